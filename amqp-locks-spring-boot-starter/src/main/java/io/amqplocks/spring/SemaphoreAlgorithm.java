package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import org.jspecify.annotations.Nullable;

/**
 * How the broker keeps a semaphore. All processes that share one must choose the same: a slot
 * semaphore and a token semaphore of the same name are two semaphores, each with a limit of its
 * own.
 */
public enum SemaphoreAlgorithm {
  /**
   * The algorithm that the property {@code amqp-locks.semaphores.<name>.algorithm} or another
   * annotation gives for the same semaphore, or else {@code amqp-locks.semaphore-algorithm}.
   */
  DEFAULT(null),
  /**
   * A durable queue for each slot, and an exclusive queue for each holder. Holders can be listed
   * and revoked one by one, and can hold their slots for any time on every release of RabbitMQ.
   * Clients of the same scheme in other languages can share such a semaphore.
   */
  SLOTS(LockKind.SLOT_SEMAPHORE),
  /**
   * One queue with a token for each slot. It is several times faster than slots, and serves waiting
   * calls by priority and without polling. On a quorum queue it survives the loss of a node. Each
   * lease can have a fencing token.
   */
  TOKENS(LockKind.TOKEN_SEMAPHORE);

  private final @Nullable LockKind kind;

  SemaphoreAlgorithm(@Nullable LockKind kind) {
    this.kind = kind;
  }

  /** The kind of lock that has this algorithm; null for {@link #DEFAULT}. */
  public @Nullable LockKind kind() {
    return kind;
  }
}
