package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Delivery;

/** Judges the message that came back to a holder that gave its token back to verify it. */
@FunctionalInterface
public interface ReturnedMessageJudge {

  /** The verdict on a message. */
  enum Verdict {
    /** The lease's own token, and its count says that nobody had it in the meantime. */
    PROVEN,
    /** A token that can hold this lease. */
    KEEP,
    /** Another lease's token: give it back, and judge the next message. */
    EXCHANGE,
    /** Not a token: remove it from the queue. */
    DROP,
    /** The lease's own token, but another client held it in the meantime. */
    LOST
  }

  /** Judges one message. */
  Verdict of(Delivery came);
}
