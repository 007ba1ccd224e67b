package io.amqplocks.sample.demo;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How many slots there are, were and will be, and the numbers of those that are known. The page
 * changes it, the main thread reads it.
 *
 * <p>A token semaphore that is made smaller keeps the tokens that come back last, whatever their
 * numbers. So after a resize nobody here knows the numbers, and each is learned when it is used.
 */
final class SlotNumbers {

  /** More do not fit on the page, and there is not work enough for them. */
  private static final int MOST = 24;

  private final ReentrantLock lock = new ReentrantLock();
  private final SortedSet<Integer> known = new TreeSet<>();
  private final int limit;
  private int count;
  private int least;
  private int most;

  SlotNumbers(int count) {
    this.count = count;
    this.limit = Math.max(MOST, count);
    this.least = count;
    this.most = count;
    for (int slot = 1; slot <= count; slot++) {
      known.add(slot);
    }
  }

  /**
   * There will be so many soon; or not, if the change fails.
   *
   * @return how many there are now
   * @throws IllegalArgumentException if that is not possible
   */
  int willBe(int next) {
    lock.lock();
    try {
      if (next < 1 || next > limit) {
        throw new IllegalArgumentException(
            "There can be 1 to %d slots here, not %d".formatted(limit, next));
      }
      least = Math.min(least, next);
      most = Math.max(most, next);
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** There are so many now. */
  void are(int now) {
    lock.lock();
    try {
      count = now;
    } finally {
      lock.unlock();
    }
  }

  /** How many there can be. */
  int limit() {
    return limit;
  }

  /** How many there are. */
  int count() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** The fewest there ever were, or may have been. */
  int least() {
    lock.lock();
    try {
      return least;
    } finally {
      lock.unlock();
    }
  }

  /** The most there ever were, or may have been. */
  int most() {
    lock.lock();
    try {
      return most;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The numbers to show.
   *
   * @param used those that were used in the last seconds; of what is known, the others go first
   *     when there are fewer slots
   */
  List<Integer> known(Collection<Integer> used) {
    lock.lock();
    try {
      known.addAll(used);
      List<Integer> idle = new ArrayList<>(known);
      idle.removeAll(used);
      for (int next = idle.size() - 1; next >= 0 && known.size() > count; next--) {
        known.remove(idle.get(next));
      }
      return List.copyOf(known);
    } finally {
      lock.unlock();
    }
  }
}
