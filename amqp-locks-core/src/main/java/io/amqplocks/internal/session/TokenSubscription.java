package io.amqplocks.internal.session;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Waiting for a token, by a consumer that the broker gives at most one. What comes of it, one token or
 * none, is had once: then it is over, and so it is when it is closed.
 *
 * <p>Concurrency: one compare-and-set decides who has the token: whoever claims it, or the close, which
 * gives it back.
 */
public final class TokenSubscription implements AutoCloseable {

  private final HeldToken token;
  private final TokenQueues tokens;
  private final AtomicBoolean over = new AtomicBoolean();

  TokenSubscription(HeldToken token, TokenQueues tokens) {
    this.token = token;
    this.tokens = tokens;
  }

  /** Whether none will come any more: the broker ended it, or it was claimed or closed. */
  public boolean isOver() {
    return over.get() || token.isGone();
  }

  /** The token if it has come; whoever has it, must {@link TokenQueues#release} it. */
  public Optional<HeldToken> claim() {
    return !token.isGone() && token.isHere() && over.compareAndSet(false, true)
        ? Optional.of(token)
        : Optional.empty();
  }

  /** Stops waiting; a token that was not claimed goes back. Never throws, and waits for nothing. */
  @Override
  public void close() {
    if (over.compareAndSet(false, true)) {
      tokens.release(token);
    }
  }
}
