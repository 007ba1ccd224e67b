package io.amqplocks.internal.probe;

/** Publishes with confirms: a nack or silence means nothing, for that queue alone. */
public final class ConfirmProbe extends PublishingProbe {

  /** Opens nothing yet. */
  public ConfirmProbe() {
    super(ConfirmedChannel::new);
  }
}
