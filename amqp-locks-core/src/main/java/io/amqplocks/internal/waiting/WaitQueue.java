package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of this process for one lock, ordered by priority and then by arrival. Only the first
 * one asks the broker, so a process is one contender however many of its threads wait. It asks when
 * that is worthwhile: when a slot may have become free, or when it has not asked for some time. A
 * slot that is handed over within the process goes to the first waiter as well.
 *
 * <p>If the first waiter is unfair, a slot that is handed over is unclaimed, and the first waiter
 * is woken. Another unfair caller of the same priority may come and take the slot before that one
 * has woken up. That saves the change of threads. A first waiter that has waited for {@link
 * #BARGING_NANOS} is handed the slot all the same.
 *
 * <p>Concurrency: everything is guarded by one lock, which is never held during a request to the
 * broker. A flag marks that a waiter is asking. So one asks at a time, even if another becomes the
 * first meanwhile.
 *
 * <p>No event is missed between a failed attempt and the sleep after it. An event in between marks
 * the queue as due, and the first waiter of a queue that is due does not sleep.
 *
 * <p>A waiter that leaves wakes the first of the others if the queue is due. Otherwise the first
 * has nothing to do before the next request to the broker is due, and an alarm wakes it then. So a
 * slot that is passed from thread to thread wakes only the thread that gets it.
 *
 * <p>No slot is forgotten. An unclaimed slot that no waiter can use is given back by the next
 * waiter that leaves.
 */
// More than 300 lines: the queue and its places are guarded by one lock.
final class WaitQueue {

  /** How long an unfair waiter may be overtaken while it is the first. */
  static final long BARGING_NANOS = 100_000_000;

  private final ReentrantLock guard = new ReentrantLock();
  private final TreeMap<Rank, Place> places = new TreeMap<>();
  private final LongSupplier nanos;
  private final Alarm alarm;
  private long joined;
  private boolean asking;

  /** How many attempts have ended with an answer of the broker. */
  private long answers;

  private boolean due = true;
  private boolean closed;
  private long askAgainAt;
  private @Nullable LockException outage;
  private @Nullable BrokerGrant unclaimed;
  private boolean alarmed;
  private long alarmAt;

  /** Schedules a task. */
  interface Alarm {
    /** Runs the task after that time, on another thread. Does not block. */
    void set(Runnable ring, long nanos);
  }

  /**
   * Creates an empty wait queue.
   *
   * @param nanos the time
   * @param alarm wakes the first waiter when the broker is to be asked again
   */
  WaitQueue(LongSupplier nanos, Alarm alarm) {
    this.nanos = nanos;
    this.alarm = alarm;
  }

  /** A place in the wait queue. */
  final class Place {
    private final Rank rank;
    private final boolean fenced;
    private final boolean fair;
    private final boolean failFast;
    private final long since;
    private final long answersAtJoin = answers;
    private final Condition condition = guard.newCondition();
    private final Runnable signal;
    private @Nullable BrokerGrant handed;

    private Place(Rank rank, Variant variant, @Nullable Runnable signal) {
      this.rank = rank;
      fenced = variant.fenced();
      fair = variant.fair();
      failFast = variant.failFast();
      since = fair ? 0 : nanos.getAsLong();
      this.signal = signal == null ? condition::signal : signal;
    }

    /** The step to take now. If it is to try, the caller must then call {@link #tried}. */
    Step next() {
      guard.lock();
      try {
        return step();
      } finally {
        guard.unlock();
      }
    }

    /**
     * Waits until there is something to do, or the time is over. In the latter case the step is to
     * sleep.
     */
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
          // Whether the wake-up is early or late, the step is computed again.
          long unused = condition.awaitNanos(Math.min(left, step.nanos()));
        }
      } finally {
        guard.unlock();
      }
    }

    private Step step() {
      if (closed) {
        return Step.CLOSED;
      }
      if (handed != null) {
        Step takeOver = Step.takeOver(handed);
        handed = null;
        return takeOver;
      }
      BrokerGrant found = unclaimed;
      if (found != null && mayTake(found)) {
        unclaimed = null;
        return Step.takeOver(found);
      }
      LockException broken = failFast ? outage : null;
      if (asking || !isFirst()) {
        return broken == null ? Step.sleep(Long.MAX_VALUE) : Step.fail(broken);
      }
      long left = askAgainAt - nanos.getAsLong();
      if (!due && left > 0) {
        return broken == null ? Step.sleep(left) : Step.fail(broken);
      }
      // Also during an outage: otherwise nobody would find out that it is over.
      asking = true;
      due = false;
      return Step.TRY;
    }

    /**
     * Whether it may take an unclaimed slot: if it is the first of those that can use the slot, or
     * if it is unfair and of the same priority. One of higher priority that cannot use the slot
     * may have come since the slot was handed over.
     */
    private boolean mayTake(BrokerGrant slot) {
      if (!slot.mayBeHandedTo(fenced)) {
        return false;
      }
      for (Place place : places.values()) {
        if (slot.mayBeHandedTo(place.fenced)) {
          return place == this || (!fair && rank.priority() == place.rank.priority());
        }
      }
      return false;
    }

    private boolean isFirst() {
      Map.Entry<Rank, Place> first = places.firstEntry();
      return first != null && first.getValue() == this;
    }

    /**
     * Records that the attempt is over.
     *
     * @param again whether the next waiter may try at once, because there may be more slots
     * @param pause how long to send no request to the broker otherwise, unless something happens
     * @param met the outage that it met, of which those hear at once that do not wait until it is
     *     over; null if it met none
     */
    void tried(boolean again, long pause, @Nullable LockException met) {
      guard.lock();
      try {
        asking = false;
        outage = met;
        answers += met == null ? 1 : 0;
        if (met != null) {
          places.values().stream()
              .filter(place -> place.failFast)
              .forEach(place -> place.signal.run());
        }
        due |= again;
        askAgainAt = nanos.getAsLong() + pause;
        signalFirst();
      } finally {
        guard.unlock();
      }
    }

    /**
     * Whether another waiter asks the broker, or is about to, and nobody has had an answer since
     * this one came. Then this waiter cannot know that the lock is busy.
     */
    boolean isUnheard() {
      guard.lock();
      try {
        return (asking || due) && answers == answersAtJoin;
      } finally {
        guard.unlock();
      }
    }

    /** The outage that the last attempt of any waiter met, if it did. */
    @Nullable LockException outage() {
      guard.lock();
      try {
        return outage;
      } finally {
        guard.unlock();
      }
    }

    /**
     * Gives the place up. Returns the slots that were handed to the place, or that nobody is there
     * for any more. The caller is responsible for these slots.
     */
    List<BrokerGrant> leave() {
      guard.lock();
      try {
        boolean led = isFirst();
        places.remove(rank);
        due |= led && !places.isEmpty() && asksOtherwise(places.firstEntry().getValue());
        if (due) {
          signalFirst();
        } else if (led && !places.isEmpty()) {
          signalFirstLater();
        }
        BrokerGrant mine = handed;
        handed = null;
        BrokerGrant found = abandoned();
        if (mine == null) {
          return found == null ? List.of() : List.of(found);
        }
        return found == null ? List.of(mine) : List.of(mine, found);
      } finally {
        guard.unlock();
      }
    }

    /**
     * Whether the next one is to ask the broker at once, and not for as long as the request of this
     * one is good for it. If no other waiter has this priority, the broker must not apply it any
     * more. A request for a fenced lease is of no use to another, and the place in the broker's
     * line would be given up only when the slot has come.
     */
    private boolean asksOtherwise(Place next) {
      return next.rank.priority() < rank.priority() || next.fenced != fenced;
    }
  }

  /**
   * Takes the last place of the variant's priority.
   *
   * @param variant what the waiter wants of a slot
   * @param signal is called, under the lock of the wait queue, when there may be something to do;
   *     null for a caller that uses {@link Place#await}
   */
  Place join(Variant variant, @Nullable Runnable signal) {
    guard.lock();
    try {
      Place place = new Place(new Rank(variant.priority(), joined++), variant, signal);
      places.put(place.rank, place);
      // If the place comes before others, the broker must be told of its priority.
      due |= place.isFirst();
      return place;
    } finally {
      guard.unlock();
    }
  }

  /** Notifies the queue that a slot may have become free at the broker. */
  void released() {
    guard.lock();
    try {
      due = true;
      signalFirst();
    } finally {
      guard.unlock();
    }
  }

  /** Ends the waiting of all waiters, and of those who join later. */
  void close() {
    guard.lock();
    try {
      closed = true;
      places.values().forEach(place -> place.signal.run());
    } finally {
      guard.unlock();
    }
  }

  /**
   * Hands the slot to the first waiter that has none yet. Returns false if there is none, or if
   * that waiter cannot use the slot.
   */
  boolean offer(BrokerGrant slot) {
    guard.lock();
    try {
      for (Place place : places.values()) {
        if (place.handed == null && !closed) {
          boolean usable = slot.mayBeHandedTo(place.fenced);
          if (usable) {
            hand(place, slot);
          }
          return usable;
        }
      }
      return false;
    } finally {
      guard.unlock();
    }
  }

  private void hand(Place place, BrokerGrant slot) {
    place.signal.run();
    if (place.fair || unclaimed != null || nanos.getAsLong() - place.since >= BARGING_NANOS) {
      place.handed = slot;
      return;
    }
    unclaimed = slot;
    if (asking) {
      // The first waiter may be busy with a request to the broker.
      places.values().stream()
          .filter(other -> !other.equals(place) && other.mayTake(slot))
          .findFirst()
          .ifPresent(other -> other.signal.run());
    }
  }

  /** Takes the unclaimed slot if no waiter can use it. Otherwise wakes a waiter that can. */
  private @Nullable BrokerGrant abandoned() {
    BrokerGrant found = unclaimed;
    if (found == null) {
      return null;
    }
    for (Place place : places.values()) {
      if (!closed && place.mayTake(found)) {
        place.signal.run();
        return null;
      }
    }
    unclaimed = null;
    return found;
  }

  private void signalFirst() {
    Map.Entry<Rank, Place> first = places.firstEntry();
    if (first != null) {
      first.getValue().signal.run();
    }
  }

  /**
   * Schedules an alarm for the first waiter. There is one alarm at a time, unless another is needed
   * earlier.
   */
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

  /** The order of a place in the wait queue: by priority, highest first, and then by arrival. */
  private record Rank(int priority, long number) implements Comparable<Rank> {

    @Override
    public int compareTo(Rank other) {
      return priority == other.priority
          ? Long.compare(number, other.number)
          : Integer.compare(other.priority, priority);
    }
  }
}
