package io.amqplocks.internal.session;

/** Says what a message is that came back to the holder of a token who gave that back to verify it. */
@FunctionalInterface
public interface TokenJudge {

  /** What to do with it. */
  enum Verdict {
    /** It is a token that this lease may be held by. */
    KEEP,
    /** It is another's token: give it back, and see what comes next. */
    EXCHANGE,
    /** It is no token: take it out of the queue. */
    DROP,
    /** It is our token, and somebody else had it meanwhile. */
    LOST
  }

  /** Judges one message. */
  Verdict of(Delivery came);
}
