package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldSlot;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Those of this process who wait for one lock: by priority, and then first come, first served. Only the
 * first asks the broker, so that a process is one contender however many of its threads wait; and it asks
 * when that is worth while: when a slot may have come free, or when it was not asked for some time. A slot
 * that is handed over in the process goes to the first as well.
 *
 * <p>Concurrency: all is guarded by one lock, never held while the broker is asked. Who asks is marked,
 * so one asks at a time even if another comes first meanwhile. Nothing is missed between an attempt that
 * failed and the sleep after it: what happens in between marks the line as due, and nobody sleeps who is
 * first in a line that is due. Whoever leaves wakes the first of those left if the line is due; else there
 * is nothing for it to do before the broker is to be asked again, and an alarm wakes it then. So a slot that
 * goes from thread to thread wakes only the one who gets it.
 */
final class WaitingLine {

  private final ReentrantLock guard = new ReentrantLock();
  private final TreeMap<Rank, Place> places = new TreeMap<>();
  private final LongSupplier nanos;
  private final Alarm alarm;
  private long joined;
  private boolean asking;
  private boolean due = true;
  private boolean closed;
  private long askAgainAt;
  private boolean alarmed;
  private long alarmAt;

  /** Something that runs later. */
  interface Alarm {
    /** Runs it after that time, in another thread. Does not block. */
    void set(Runnable ring, long nanos);
  }

  /** An empty line, in that time. */
  WaitingLine(LongSupplier nanos, Alarm alarm) {
    this.nanos = nanos;
    this.alarm = alarm;
  }

  /** A place in the line. */
  final class Place {
    private final Rank rank;
    private final boolean takesOver;
    private final Condition condition = guard.newCondition();
    private final Runnable signal;
    private @Nullable HeldSlot handed;

    private Place(Rank rank, boolean takesOver, @Nullable Runnable signal) {
      this.rank = rank;
      this.takesOver = takesOver;
      this.signal = signal == null ? condition::signal : signal;
    }

    /** What to do now. Whoever is told to try must say {@link #tried}. */
    Step next() {
      guard.lock();
      try {
        return step();
      } finally {
        guard.unlock();
      }
    }

    /** Waits until there is something to do, or the time is over: then the step is to sleep. */
    Step await(long most) throws InterruptedException {
      guard.lockInterruptibly();
      try {
        long end = nanos.getAsLong() + most;
        while (true) {
          Step step = step();
          long left = end - nanos.getAsLong();
          if (step.action() != Step.Action.SLEEP || left <= 0) {
            return step;
          }
          // Woken early or late, it looks again.
          long unused = condition.awaitNanos(Math.min(left, step.nanos()));
        }
      } finally {
        guard.unlock();
      }
    }

    private Step step() {
      if (closed) {
        return Step.GO;
      }
      if (handed != null) {
        Step takeOver = Step.takeOver(handed);
        handed = null;
        return takeOver;
      }
      if (asking || !isFirst()) {
        return Step.sleep(Long.MAX_VALUE);
      }
      long left = askAgainAt - nanos.getAsLong();
      if (!due && left > 0) {
        return Step.sleep(left);
      }
      asking = true;
      due = false;
      return Step.TRY;
    }

    private boolean isFirst() {
      Map.Entry<Rank, Place> first = places.firstEntry();
      return first != null && first.getValue() == this;
    }

    /**
     * The attempt is over.
     *
     * @param again whether the next one may try at once, for there may be more slots
     * @param pause how long to leave the broker alone else, unless something happens
     */
    void tried(boolean again, long pause) {
      guard.lock();
      try {
        asking = false;
        due |= again;
        askAgainAt = nanos.getAsLong() + pause;
        signalFirst();
      } finally {
        guard.unlock();
      }
    }

    /** Gives the place up; what was handed to it in the meantime, for which somebody must care. */
    @Nullable HeldSlot leave() {
      guard.lock();
      try {
        boolean led = isFirst();
        places.remove(rank);
        // If that was the only one of its priority, the broker must not go by it any more.
        due |= led && !places.isEmpty() && places.firstKey().priority() < rank.priority();
        if (due) {
          signalFirst();
        } else if (led && !places.isEmpty()) {
          signalFirstLater();
        }
        HeldSlot left = handed;
        handed = null;
        return left;
      } finally {
        guard.unlock();
      }
    }
  }

  /**
   * Takes the last place of that priority.
   *
   * @param takesOver whether a slot may be handed over to it
   * @param signal is called, under the line's lock, when there may be something to do; null for one who
   *     awaits it
   */
  Place join(int priority, boolean takesOver, @Nullable Runnable signal) {
    guard.lock();
    try {
      Place place = new Place(new Rank(priority, joined++), takesOver, signal);
      places.put(place.rank, place);
      // If it comes before others, the broker must hear of its priority.
      due |= place.isFirst();
      return place;
    } finally {
      guard.unlock();
    }
  }

  /** A slot may have come free at the broker. */
  void released() {
    guard.lock();
    try {
      due = true;
      signalFirst();
    } finally {
      guard.unlock();
    }
  }

  /** Sends everybody away, also who joins later. */
  void close() {
    guard.lock();
    try {
      closed = true;
      places.values().forEach(place -> place.signal.run());
    } finally {
      guard.unlock();
    }
  }

  /** Hands the slot to the first who has none yet; false if there is none, or it cannot use it. */
  boolean offer(HeldSlot slot) {
    guard.lock();
    try {
      for (Place place : places.values()) {
        if (place.handed == null && !closed) {
          if (place.takesOver) {
            place.handed = slot;
            place.signal.run();
          }
          return place.takesOver;
        }
      }
      return false;
    } finally {
      guard.unlock();
    }
  }

  private void signalFirst() {
    Map.Entry<Rank, Place> first = places.firstEntry();
    if (first != null) {
      first.getValue().signal.run();
    }
  }

  /** There is one alarm at a time, but for one that is to come earlier. */
  private void signalFirstLater() {
    if (alarmed && alarmAt - askAgainAt <= 0) {
      return;
    }
    alarmed = true;
    alarmAt = askAgainAt;
    alarm.set(this::ring, Math.max(0, askAgainAt - nanos.getAsLong()));
  }

  private void ring() {
    guard.lock();
    try {
      alarmed = false;
      signalFirst();
    } finally {
      guard.unlock();
    }
  }
}
