package io.amqplocks.internal.probe;

/** Whether a queue exists, as far as the broker would tell. */
public enum Presence {
  /** It took the probe. */
  PRESENT,
  /** The broker had no route to it: it is not there, in the view of the node that was asked. */
  ABSENT,
  /** A nack, or no answer: its node may be down, or the broker under an alarm. Neither yes nor no. */
  UNKNOWN
}
