package io.amqplocks.prover.driver;

/**
 * The queue that the consumers of a lock consume in turn.
 *
 * @param name its name; with an {@linkplain LockRef.Kind#ACTIVE_QUEUE active queue}, that of the
 *     tracking queue
 * @param ingress the exchange to which its messages are published, of type fanout
 */
public record ConsumedQueue(String name, String ingress) {

  /** By the names of the line protocol. */
  public static ConsumedQueue of(String prefix, LockRef lock) {
    return new ConsumedQueue(prefix + "consumed." + lock.name(), prefix + "ingress." + lock.name());
  }
}
