package io.amqplocks.lock;

/** What keeps the tokens of a token semaphore. */
public enum TokenQueueType {
  /**
   * A classic queue: the fastest. It lives on one node; while that is down nobody acquires, and the
   * leases of the others are lost.
   */
  CLASSIC,
  /**
   * A quorum queue: several times slower, survives the loss of a minority of its nodes, and counts for
   * each token how often it came back, which makes fencing tokens at no further cost.
   */
  QUORUM
}
