package io.amqplocks.lock;

/** How a slot semaphore finds out which queues exist, before it acquires a slot. */
public enum ProbeKind {
  /**
   * Publishes to each queue and waits for the broker's confirms. This is the cheapest way, whatever
   * the number of queues. A memory or disk alarm of the broker stops publishers, so no free slot
   * can be found while it lasts.
   */
  CONFIRM,
  /**
   * Declares each queue passively. This publishes nothing, so that free slots are found under an
   * alarm too, and policies see no message. Each queue that is absent, or held by another client,
   * costs a channel. This makes it several times slower, and more so with many slots.
   */
  PASSIVE,
  /**
   * Publishes to each queue in one transaction, for brokers without confirms. An alarm stops it as
   * it stops CONFIRM. One queue that refuses messages makes its whole batch unknown.
   */
  TRANSACTION
}
