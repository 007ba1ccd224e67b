package io.amqplocks.lock;

/** In which order the slots of a semaphore are deleted; a trade-off that seed 001 describes. */
public enum DeleteOrder {
  /**
   * The highest first. However far it gets, what is left is a semaphore without holes; clients see
   * the number go down step by step. The safe choice.
   */
  DESCENDING,
  /**
   * The lowest first: clients see the new number after the first step. If it is cut short, slots stay
   * behind above the hole. They are not counted and nobody takes them, but who holds one is not told;
   * the next change by an administrator, or {@link SemaphoreAdmin#prune}, removes them.
   */
  ASCENDING
}
