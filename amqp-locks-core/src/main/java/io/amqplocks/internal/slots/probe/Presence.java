package io.amqplocks.internal.slots.probe;

/** Whether a queue exists, as far as the broker says. */
public enum Presence {
  /** The queue received the probe. */
  PRESENT,
  /**
   * The broker had no route to the queue: it does not exist, in the view of the node that was
   * asked.
   */
  ABSENT,
  /**
   * A nack, or no answer: the queue's node may be down, or the broker under an alarm. The queue may
   * or may not exist.
   */
  UNKNOWN
}
