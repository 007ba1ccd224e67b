package io.amqplocks.internal.tokens;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A wait for a token, by a consumer to which the broker sends at most one. It yields one token or
 * none, once. It is over after that, and after it was closed.
 *
 * <p>Concurrency: one compare-and-set decides who gets the token: the caller that claims it, or the
 * close, which gives it back.
 */
public final class TokenSubscription implements AutoCloseable {

  private final HeldToken token;
  private final TokenQueues tokens;
  private final AtomicBoolean over = new AtomicBoolean();

  TokenSubscription(HeldToken token, TokenQueues tokens) {
    this.token = token;
    this.tokens = tokens;
  }

  /** The token, whether it has arrived or not. */
  HeldToken token() {
    return token;
  }

  /** Whether no token will come any more: the broker ended it, or it was claimed or closed. */
  public boolean isOver() {
    return over.get() || token.isGone();
  }

  /** The token if it has arrived; the caller must {@link TokenQueues#release} it. */
  public Optional<HeldToken> claim() {
    return !token.isGone() && token.isHere() && over.compareAndSet(false, true)
        ? Optional.of(token)
        : Optional.empty();
  }

  /** Stops waiting. A token that was not claimed goes back. Never throws, and does not wait. */
  @Override
  public void close() {
    if (over.compareAndSet(false, true)) {
      tokens.release(token);
    }
  }
}
