package io.amqplocks.internal.broker;

/**
 * The broker's reply to a request about a queue, reduced to the cases that a lock expects.
 *
 * <p>A request without a reply fails with {@link io.amqplocks.lock.LockException.Unanswered}. Only
 * a caller that handles a late reply by a {@link Rpc.LateAnswer} gets {@link #TIMED_OUT} instead.
 * It has to know that its request was sent, which the exception does not say: a request that found
 * no channel fails with it too, and has no late reply.
 */
public enum Answer {
  /** The request succeeded, or the queue exists and does not belong to another connection. */
  OK,
  /** There is no such queue (404). */
  ABSENT,
  /** The queue is exclusive to another connection (405), or has an exclusive consumer (403). */
  LOCKED,
  /**
   * No reply within the bound, to a request that was sent. It may have taken effect, or may still
   * take effect. Only for callers that handle a late reply.
   */
  TIMED_OUT
}
