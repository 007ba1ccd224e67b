package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.lock.LockException;

/** How a session finds the queue of a mutex. */
interface QueueFinding {

  /**
   * Finds the queue.
   *
   * @throws LockException.NotFound if there is none, and clients must not create it
   * @throws LockException.Conflict if the queue is seen to be none of a mutex
   */
  QueueState find(Call call, String queue);

  /** Whether a queue that was found had a single active consumer then. */
  boolean provesKind();

  /**
   * A request found no queue.
   *
   * @throws LockException.NotFound if clients must not create it
   */
  void missing(Call call);

  /** The error for a queue that was deleted so often while it was acquired. */
  LockException deleted(Call call, String queue, int times);

  /** What to do about a queue that is none of a mutex. */
  String remedy();

  /** The error for a queue that another kind of lock or a stranger uses. */
  default LockException foreign(Call call, String queue, String why) {
    return new LockException.Conflict(
        "The queue %s cannot guard %s: %s; %s".formatted(queue, call.lock(), why, remedy()));
  }
}
