package io.amqplocks.lock;

/**
 * Which of several free slots of a semaphore to try first. All are as good to hold; the order decides
 * how often contenders meet.
 */
public enum SlotOrder {
  /**
   * At random, so that contenders spread; but the one that this process had last is tried without
   * looking, as long as that works. The default.
   */
  RANDOM,
  /**
   * The lowest first, as seed 001 suggests: the highest slots stay free as long as possible, which an
   * administrator who removes them likes; contenders meet more often.
   */
  ASCENDING,
  /** The one that this process had last, else at random: a process keeps to its slots. */
  REMEMBERED
}
