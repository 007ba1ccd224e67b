package io.amqplocks.lock;

/** How a lock finds out which queues exist, before it tries to take one. */
public enum ProbeKind {
  /**
   * Publishes to each and waits for the broker's confirms. The cheapest, whatever the number of
   * queues. An alarm of the broker (memory, disk) stops publishers: as long as it lasts no slot of a
   * semaphore can be looked for.
   */
  CONFIRM,
  /**
   * Declares each passively. Publishes nothing, so slots can be looked for under an alarm too, and no
   * policy sees a message. Each queue that is absent, or held by another, costs a channel: dearer by
   * several times, more so with many slots.
   */
  PASSIVE,
  /**
   * Publishes to each in one transaction: for brokers that have no confirms. Stopped by an alarm as
   * CONFIRM is; and one queue that takes no messages leaves all of its batch uncertain.
   */
  TRANSACTION
}
