package io.amqplocks.internal.waiting;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The threads of this process that wait for one lock, first come, first served. Only the head asks the
 * broker, so that a process is one contender however many of its threads wait.
 *
 * <p>Concurrency: the line is guarded by one lock, never held while the broker is asked. Each waiter
 * has a condition of its own and is woken when it becomes the head, or when it is the head and a slot
 * may have come free. A release between an attempt that failed and the pause after it is not missed:
 * releases are counted, and a pause ends at once if the count has moved since the attempt began.
 */
final class WaitingLine {

  private final ReentrantLock guard = new ReentrantLock();
  private final Deque<Condition> waiters = new ArrayDeque<>();
  private long releases;

  /** A place in the line. */
  final class Place {
    private final Condition condition = guard.newCondition();

    /**
     * Waits to become the head.
     *
     * @return false if the time ran out first
     */
    boolean awaitTurn(long nanos) throws InterruptedException {
      guard.lockInterruptibly();
      try {
        long left = nanos;
        while (!condition.equals(waiters.peekFirst())) {
          if (left <= 0) {
            return false;
          }
          left = condition.awaitNanos(left);
        }
        return true;
      } finally {
        guard.unlock();
      }
    }

    /** Pauses the head for that long, or until a slot may have come free since the mark was taken. */
    void pause(long nanos, long mark) throws InterruptedException {
      guard.lockInterruptibly();
      try {
        long left = nanos;
        while (releases == mark && left > 0) {
          left = condition.awaitNanos(left);
        }
      } finally {
        guard.unlock();
      }
    }
  }

  /** Takes the last place. */
  Place join() {
    Place place = new Place();
    guard.lock();
    try {
      waiters.addLast(place.condition);
    } finally {
      guard.unlock();
    }
    return place;
  }

  /** Gives the place up, in whichever position. */
  void leave(Place place) {
    guard.lock();
    try {
      waiters.remove(place.condition);
      wakeHead();
    } finally {
      guard.unlock();
    }
  }

  /** To be taken before an attempt, for {@link Place#pause}. */
  long mark() {
    guard.lock();
    try {
      return releases;
    } finally {
      guard.unlock();
    }
  }

  /** A slot may have come free. */
  void released() {
    guard.lock();
    try {
      releases++;
      wakeHead();
    } finally {
      guard.unlock();
    }
  }

  private void wakeHead() {
    Condition head = waiters.peekFirst();
    if (head != null) {
      head.signal();
    }
  }
}
