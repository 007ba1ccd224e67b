package io.amqplocks.admin;

/**
 * The order in which slots of a semaphore are deleted. The semaphore guideline describes the
 * trade-off.
 */
public enum DeleteOrder {
  /**
   * The highest slot first. If the change is interrupted, a semaphore without holes remains.
   * Clients see the number fall step by step. This is the safe choice.
   */
  DESCENDING,
  /**
   * The lowest slot first. Clients see the new number after the first step. If the change is
   * interrupted, slots remain above the hole. They are not counted and cannot be acquired, but
   * their holders are not notified. The same change again, or any other one by an administrator,
   * removes them. Only after a gap of more than a thousand slots does it look no further; {@link
   * SlotSemaphoreAdmin#prune} does.
   */
  ASCENDING
}
