package io.amqplocks.sample.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What the demo has started so far, to be ended in reverse order.
 *
 * <p>The main thread adds while it starts one thing after another; Ctrl-C closes, on a thread of
 * its own and at any moment. What is added after that is ended at once, by whoever adds it: so each
 * thing is ended exactly once. Nothing is ended while the lock is held.
 */
final class Belongings implements AutoCloseable {

  /** Something that is ended without an exception to handle. */
  @FunctionalInterface
  interface Belonging extends AutoCloseable {

    @Override
    void close();
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Belonging> open = new ArrayDeque<>();
  private boolean closed;

  /**
   * Adds one.
   *
   * @throws DemoFailure if the demo ends already; then this has been closed
   */
  void add(Belonging belonging) {
    lock.lock();
    try {
      if (!closed) {
        open.push(belonging);
        return;
      }
    } finally {
      lock.unlock();
    }
    belonging.close();
    throw new DemoFailure("Interrupted while starting");
  }

  @Override
  public void close() {
    for (Belonging next = next(); next != null; next = next()) {
      next.close();
    }
  }

  private @Nullable Belonging next() {
    lock.lock();
    try {
      closed = true;
      return open.poll();
    } finally {
      lock.unlock();
    }
  }
}
