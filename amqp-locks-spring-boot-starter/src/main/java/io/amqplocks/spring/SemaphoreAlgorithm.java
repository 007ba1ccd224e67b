package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import org.jspecify.annotations.Nullable;

/**
 * How the broker keeps a semaphore. All processes that share one must choose the same: a semaphore
 * of slots and one of tokens that have the same name are two semaphores, each with its own limit.
 */
public enum SemaphoreAlgorithm {
  /** What another place says of the same semaphore, or else {@code amqp-locks.semaphore-algorithm}. */
  DEFAULT(null),
  /**
   * A durable queue for each slot, and an exclusive queue for each holder. Holders can be named and
   * revoked one by one, and hold for as long as they like on every release of RabbitMQ. Shared with
   * clients of the same scheme in other languages.
   */
  SLOTS(LockKind.SEMAPHORE),
  /**
   * One queue with a token for each slot. Several times faster than slots; waiting calls are served
   * by priority, without asking again and again; on a quorum queue it survives the loss of a node,
   * and each lease can have a fencing token.
   */
  TOKENS(LockKind.TOKEN_SEMAPHORE);

  private final @Nullable LockKind kind;

  SemaphoreAlgorithm(@Nullable LockKind kind) {
    this.kind = kind;
  }

  /** The kind of lock that it makes; null if it is another's to say. */
  @Nullable LockKind kind() {
    return kind;
  }
}
