package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import org.jspecify.annotations.Nullable;

/**
 * How the broker keeps a mutex. All processes that share one must choose the same: mutexes of two
 * algorithms that have the same name do not exclude each other.
 */
public enum MutexAlgorithm {
  /** What another place says of the same mutex, or else {@link #EXCLUSIVE_QUEUE}. */
  DEFAULT(null),
  /**
   * An exclusive queue that exists while the mutex is held, and leaves nothing at the broker: there
   * may be as many names as orders or customers.
   */
  EXCLUSIVE_QUEUE(LockKind.MUTEX),
  /**
   * One token on a quorum queue: faster, waiting calls are served by priority, and each lease has a
   * fencing token. Leaves some queues at the broker for good for each name, so it is for names that
   * are few.
   */
  TOKENS(LockKind.FENCED_MUTEX);

  private final @Nullable LockKind kind;

  MutexAlgorithm(@Nullable LockKind kind) {
    this.kind = kind;
  }

  /** The kind of lock that it makes; null if it is another's to say. */
  @Nullable LockKind kind() {
    return kind;
  }
}
