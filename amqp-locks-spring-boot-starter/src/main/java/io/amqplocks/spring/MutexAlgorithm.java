package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import org.jspecify.annotations.Nullable;

/**
 * How the broker keeps a mutex. All processes that share one must choose the same. A mutex of
 * {@link #TOKENS} and one of another algorithm do not exclude each other. The other two have the
 * same queue: a process with the wrong one of them gets an error, or finds the mutex busy.
 */
public enum MutexAlgorithm {
  /**
   * The algorithm that the property {@code amqp-locks.mutexes.<name>.algorithm} or another
   * annotation gives for the same mutex, or else {@link #SINGLE_ACTIVE_CONSUMER}.
   */
  DEFAULT(null),
  /**
   * The single active consumer of a queue. The first waiting calls of all processes are served in
   * the order of their arrival. A process may keep the mutex for its other calls for 100 ms. The
   * queue disappears when the mutex has not been used for a minute, so there can be as many names
   * as orders or customers.
   */
  SINGLE_ACTIVE_CONSUMER(LockKind.MUTEX),
  /**
   * An exclusive queue that exists while the mutex is held, for processes that share the mutex with
   * other clients of the guidelines. It is slower, and on a cluster of RabbitMQ 3.x it has two
   * holders after a break between the nodes. A process that uses {@link #SINGLE_ACTIVE_CONSUMER}
   * for the same name gets an error, or finds the mutex busy.
   */
  EXCLUSIVE_QUEUE(LockKind.EXCLUSIVE_QUEUE_MUTEX),
  /**
   * One token on a quorum queue. It is replicated, serves waiting calls by priority, and gives each
   * lease a fencing token. Each name, and each key, leaves three queues at the broker, so they must
   * be few. For many keys, use {@link #SINGLE_ACTIVE_CONSUMER} with {@code fenced}.
   */
  TOKENS(LockKind.FENCED_MUTEX);

  private final @Nullable LockKind kind;

  MutexAlgorithm(@Nullable LockKind kind) {
    this.kind = kind;
  }

  /** The kind of lock that has this algorithm; null for {@link #DEFAULT}. */
  public @Nullable LockKind kind() {
    return kind;
  }
}
