package io.amqplocks.internal.broker;

/** The broker's reply to a request about a queue, reduced to the cases that a lock expects. */
public enum Answer {
  /** The request succeeded, or the queue exists and does not belong to another connection. */
  OK,
  /** There is no such queue (404). */
  ABSENT,
  /** The queue is exclusive to another connection (405), or has an exclusive consumer (403). */
  LOCKED,
  /** No reply within the bound. The request may have taken effect, or may still take effect. */
  TIMED_OUT
}
