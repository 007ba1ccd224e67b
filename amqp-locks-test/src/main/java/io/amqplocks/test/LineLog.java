package io.amqplocks.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The lines that a process has written, and those still to come. Of the lines that {@link #await}
 * has passed only the last ones are kept, because a process may write for ever.
 */
final class LineLog {

  /** Half of them are dropped at a time. */
  static final int PASSED_KEPT = 2_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<String> lines = new ArrayList<>();
  private int passed;
  private boolean ended;

  void readFrom(BufferedReader reader, String threadName) {
    Thread thread = new Thread(() -> read(reader), threadName);
    thread.setDaemon(true);
    thread.start();
  }

  List<String> lines() {
    lock.lock();
    try {
      return List.copyOf(lines);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The first such line after the one found last; empty if none came before the time or the end.
   */
  Optional<String> await(Predicate<String> wanted, Duration timeout) {
    long left = timeout.toNanos();
    int next = 0;
    lock.lock();
    try {
      next = passed;
      while (true) {
        for (; next < lines.size(); next++) {
          if (wanted.test(lines.get(next))) {
            String line = lines.get(next);
            pass(next + 1);
            return Optional.of(line);
          }
        }
        if (ended || left <= 0) {
          return Optional.empty();
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for a line", interrupted);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is no more to come, and tells whether that is so. */
  boolean awaitEnd(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lock();
    try {
      while (!ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      return ended;
    } finally {
      lock.unlock();
    }
  }

  /** Only under the lock. */
  private void pass(int count) {
    passed = count;
    if (passed > PASSED_KEPT) {
      int dropped = passed - PASSED_KEPT / 2;
      lines.subList(0, dropped).clear();
      passed -= dropped;
    }
  }

  private void read(BufferedReader reader) {
    try (reader) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        add(line);
      }
    } catch (IOException closed) {
      // The same as its end.
    }
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void add(String line) {
    lock.lock();
    try {
      lines.add(line);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
