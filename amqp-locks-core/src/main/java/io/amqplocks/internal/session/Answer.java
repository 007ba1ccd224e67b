package io.amqplocks.internal.session;

/** What the broker says to a question about a queue: the answers that a lock expects. */
public enum Answer {
  /** Done, or: it is there and not another connection's. */
  OK,
  /** No such queue (404). */
  ABSENT,
  /** The queue is exclusive to another connection (405), or has an exclusive consumer (403). */
  LOCKED,
  /** None within the bound: it may have been done, or be done later. */
  NONE
}
