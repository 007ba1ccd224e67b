package io.amqplocks.spring;

/**
 * What happens when the lease is lost while the guarded method runs, because the connection broke
 * or an operator took the lock away. Others may then acquire it and work at the same time.
 *
 * <p>In each case a {@link LeaseLostEvent} is published, and a WARN names the lock, the slot, the
 * reason, how old the lease was, and the method. Nothing undoes what the method did, not even its
 * transaction, which has been committed when the lease is checked; but {@link
 * ReleaseAfter#TRANSACTION} has the transaction of its caller rolled back. Where a late write would
 * do harm, let the resource check a {@link io.amqplocks.lock.FencingToken}.
 */
public enum OnLost {
  /** The method goes on, and its result counts. */
  NOTIFY,
  /**
   * Does what {@link #FAIL} does, and interrupts the thread that runs the method as soon as the
   * loss is known, so that blocking calls end early. The interrupt does not outlive the method: if
   * the method ignored it, the flag is cleared. To close the locks interrupts nobody. This is for
   * methods that work on the calling thread. With a {@code CompletionStage}, {@code Mono} or {@code
   * Flux} it is an error at startup.
   */
  INTERRUPT,
  /**
   * The method goes on, but its caller does not get the result. When the method ends, the broker is
   * asked whether the lease still stands, which costs one round trip. If the lease is lost, the
   * call throws {@link io.amqplocks.lock.LockException.Lost}, whose cause is the method's own
   * exception, if any. It also does so if the locks were closed while the method ran, as by a
   * shutdown that does not wait any longer, since others may then work at the same time. A method
   * that closes its own lease loses nothing.
   *
   * <p>If the broker does not answer and the lease is uncertain, since the broker has been silent
   * for a while, the result is withheld too, by {@link
   * io.amqplocks.lock.LockException.Unconfirmed}; an exception of the method is passed on. If the
   * lease is certain without an answer, the result counts.
   *
   * <p>A {@code Flux} is checked at its end. Its subscriber has received the elements by then, and
   * gets the failure in place of the completion.
   */
  FAIL
}
