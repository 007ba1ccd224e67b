package io.amqplocks.internal.tokens;

import io.amqplocks.lock.TokenQueueType;

/**
 * Where a semaphore's tokens are.
 *
 * @param queue the queue that keeps them
 * @param type of which type it is
 * @param plain whether any message in it is a token
 */
public record TokenPlace(String queue, TokenQueueType type, boolean plain) {

  boolean isQuorum() {
    return type == TokenQueueType.QUORUM;
  }

  /** Whether it is a classic queue for sure: a plain one is what its virtual host makes of it. */
  boolean isClassic() {
    return !plain && type == TokenQueueType.CLASSIC;
  }
}
