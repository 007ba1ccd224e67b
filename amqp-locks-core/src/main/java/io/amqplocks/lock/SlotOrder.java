package io.amqplocks.lock;

/**
 * Which of several free slots of a semaphore to try first. All slots are equal for a holder. The
 * order decides how often contenders try the same one.
 */
public enum SlotOrder {
  /**
   * At random, so that contenders spread. The slot that this process held last is tried first
   * without a probe, as long as that succeeds. This is the default.
   */
  RANDOM,
  /**
   * The lowest first, as the semaphore guideline suggests. The highest slots stay free for as long
   * as possible, which helps an administrator to remove them. Contenders try the same slot more
   * often.
   */
  ASCENDING,
  /** The slot that this process held last, else at random. A process then keeps to its slots. */
  REMEMBERED
}
