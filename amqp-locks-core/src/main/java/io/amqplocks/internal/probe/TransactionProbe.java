package io.amqplocks.internal.probe;

/**
 * Publishes in a transaction, which plain AMQP 0-9-1 has and confirms are an extension of. See ADR 14
 * for what it costs.
 */
public final class TransactionProbe extends PublishingProbe {

  /** Opens nothing yet. */
  public TransactionProbe() {
    super(TransactedChannel::new);
  }
}
