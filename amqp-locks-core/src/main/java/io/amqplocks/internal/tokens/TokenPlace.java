package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.TokenQueueType;

/**
 * Where a semaphore's tokens are.
 *
 * @param queue the queue that keeps them
 * @param type of which type it is
 * @param plain whether any message in it is a token
 * @param roll which tokens there are
 */
public record TokenPlace(String queue, TokenQueueType type, boolean plain, Roll roll) {

  /** Tells the tokens of a semaphore from what anybody may have published to its queue. */
  @FunctionalInterface
  public interface Roll {
    /** Whatever is there is a token. */
    Roll ANY = (call, session, token) -> true;

    /**
     * Whether the record names that token; looks there anew if it may be newer than what is known.
     *
     * @param session a way to the broker
     */
    boolean has(Call call, Session session, TokenContent token);
  }

  /** Of which nobody knows what is in it. */
  public TokenPlace(String queue, TokenQueueType type, boolean plain) {
    this(queue, type, plain, Roll.ANY);
  }

  boolean isQuorum() {
    return type == TokenQueueType.QUORUM;
  }

  /** Whether it is a classic queue for sure: a plain one is what its virtual host makes of it. */
  boolean isClassic() {
    return !plain && type == TokenQueueType.CLASSIC;
  }
}
