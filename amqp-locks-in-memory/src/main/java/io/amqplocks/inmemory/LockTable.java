package io.amqplocks.inmemory;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The states of all locks, and their leases.
 *
 * <p>Concurrency: one monitor guards everything. Each change is one critical section: first what is
 * due by the clock, then the change, then the waiters that it serves. So a slot that comes free
 * goes to the first waiter before any other thread can see it free, and there are never more leases
 * than a lock admits. A release is two changes, because observers hear of it before the slot is
 * free.
 *
 * <p>No code of the user runs under the monitor. Notices are posted under it, for the thread of
 * {@link Notices}: so they are in the order of the changes. The futures of waiters are completed by
 * effects, which run after it is left, on the same thread. An effect may begin a change of its own,
 * because the monitor is free by then.
 *
 * <p>A waiter leaves its queue under the monitor, and whoever removed it completes its future. So
 * it ends once: by a lease, a timeout, a withdrawal, an outage or the close. A lease ends once
 * likewise, since a final status never changes.
 */
// More than 300 lines: all that happens under the one monitor is here, so that it can be judged.
final class LockTable {

  private final ReentrantLock monitor = new ReentrantLock();
  private final Condition idle = monitor.newCondition();
  private final Map<LockId, LockState> locks = new HashMap<>();
  private final Set<InMemoryLease> leases = new LinkedHashSet<>();
  private final List<Acquisition> history = new ArrayList<>();
  private final Connection connection;
  private final Time time;
  private final Notices notices;
  private final Alarm alarm;
  private long arrivals;

  /** When the present change happens: when the event was due that causes it, or else now. */
  private long at;

  private @Nullable Loss lastLoss;

  /** The lease that was lost last. */
  record Loss(String what, Instant when) {}

  LockTable(Time time, Notices notices) {
    this.time = time;
    this.notices = notices;
    connection = new Connection(notices);
    alarm = new Alarm(time, this::settle);
  }

  Time time() {
    return time;
  }

  Notices notices() {
    return notices;
  }

  /** Makes one change under the monitor, after all that is due. Its effects run after that. */
  <T> T change(Function<Effects, T> step) {
    Effects effects = new Effects();
    try {
      monitor.lock();
      try {
        long now = time.nanos();
        settle(now, effects);
        at = now;
        return step.apply(effects);
      } finally {
        try {
          alarm.set(Math.min(limitAt(nextLimited()), deadline(nextLate())));
        } finally {
          monitor.unlock();
        }
      }
    } finally {
      effects.run();
    }
  }

  /** Makes happen what is due by the clock. */
  void settle() {
    boolean unused = change(effects -> true);
  }

  /** In the order of the times at which it was due, since one event may prevent the next. */
  private void settle(long now, Effects effects) {
    while (true) {
      Optional<InMemoryLease> limited = nextLimited();
      Optional<Waiter> late = nextLate();
      at = Math.min(limitAt(limited), deadline(late));
      if (at > now) {
        return;
      }
      if (limited.isPresent() && limited.get().limitAt() == at) {
        boolean unused = lose(limited.get(), limited.get().limitReached(), effects);
      } else if (late.isPresent()) {
        LockException outage = connection.outage(late.get().lock());
        fail(late.get(), outage == null ? late.get().timeout() : outage, effects);
        // It may have kept the lock from those behind it.
        serve(late.get().lock(), effects);
      }
    }
  }

  private Optional<InMemoryLease> nextLimited() {
    return leases.stream().min(Comparator.comparingLong(InMemoryLease::limitAt));
  }

  private static long limitAt(Optional<InMemoryLease> lease) {
    return lease.map(InMemoryLease::limitAt).orElse(Time.NEVER);
  }

  private Optional<Waiter> nextLate() {
    return waiters().stream().min(Comparator.comparingLong(Waiter::deadline));
  }

  private static long deadline(Optional<Waiter> waiter) {
    return waiter.map(Waiter::deadline).orElse(Time.NEVER);
  }

  private List<Waiter> waiters() {
    return locks.values().stream().flatMap(lock -> lock.waiters.stream()).toList();
  }

  /** The state of that lock, which the two sides of a read-write lock share. */
  LockState of(LockId id) {
    LockId owner =
        id.kind() == LockKind.READ_LOCK ? new LockId(LockKind.WRITE_LOCK, id.name()) : id;
    return locks.computeIfAbsent(owner, LockState::of);
  }

  /** The state of a lock that has slots. */
  SlotSet slots(LockId id) {
    if (of(id) instanceof SlotSet slots) {
      return slots;
    }
    throw new IllegalArgumentException("The %s has no slots".formatted(id));
  }

  /** Takes what is free now and what no waiter is to get. */
  Optional<InMemoryLease> tryAcquire(LockId id, Request request) {
    return change(
        effects -> {
          connection.require(id);
          return take(id, request, thread());
        });
  }

  private static String thread() {
    return Thread.currentThread().getName();
  }

  private Optional<InMemoryLease> take(LockId id, Request request, String thread) {
    LockState lock = of(id);
    lock.requirePossible(request);
    return lock.waiters.isEmpty() ? grant(id, request, thread) : Optional.empty();
  }

  private Optional<InMemoryLease> grant(LockId id, Request request, String thread) {
    LockState lock = of(id);
    return lock.choose(id, request)
        .map(
            chosen -> {
              InMemoryLease lease =
                  new InMemoryLease(this, id, chosen, thread, at, request.holdAtMost());
              lock.hold(lease);
              leases.add(lease);
              history.add(
                  new Acquisition(id, lease.slot(), lease.permits(), time.instant(at), thread));
              return lease;
            });
  }

  /** Begins a call that waits if it has to. */
  Waiter acquire(LockId id, Request request, Duration wait) {
    return change(
        effects -> {
          Waiter waiter =
              new Waiter(
                  id,
                  request,
                  wait,
                  thread(),
                  arrivals++,
                  Time.after(at, wait),
                  new CompletableFuture<>());
          boolean waits = !wait.isZero();
          if (!waits || !connection.mayHealFor(request)) {
            connection.require(id);
          }
          connection.requireNotClosed(id);
          Optional<InMemoryLease> lease = Optional.empty();
          if (connection.isUp()) {
            connection.require(id);
            lease = take(id, request, waiter.thread());
          }
          if (lease.isPresent()) {
            waiter.outcome().complete(lease.get());
          } else if (waits) {
            of(id).waiters.add(waiter);
          } else {
            waiter.outcome().completeExceptionally(waiter.timeout());
          }
          return waiter;
        });
  }

  /** Takes a waiter out of its queue. Returns false if it has already left it. */
  boolean withdraw(Waiter waiter) {
    return change(
        effects -> {
          boolean waited = of(waiter.lock()).waiters.remove(waiter);
          serve(waiter.lock(), effects);
          return waited;
        });
  }

  /** Gives what is free to the first waiters, and ends those that wait in vain. */
  void serve(LockId id, Effects effects) {
    serve(of(id), effects);
  }

  private void serve(LockState lock, Effects effects) {
    if (!connection.isUp()) {
      return;
    }
    for (Waiter waiter : List.copyOf(lock.waiters)) {
      try {
        lock.requirePossible(waiter.request());
      } catch (LockException e) {
        fail(waiter, e, effects);
      }
    }
    while (!lock.waiters.isEmpty()) {
      Waiter first = lock.waiters.first();
      try {
        Optional<InMemoryLease> lease = grant(first.lock(), first.request(), first.thread());
        if (lease.isEmpty()) {
          return;
        }
        lock.waiters.remove(first);
        effects.add(() -> first.outcome().complete(lease.get()));
      } catch (LockException e) {
        // It concerns this call alone, and neither those behind it nor who released the slot.
        fail(first, e, effects);
      }
    }
  }

  private void fail(Waiter waiter, LockException failure, Effects effects) {
    of(waiter.lock()).waiters.remove(waiter);
    effects.add(() -> waiter.outcome().completeExceptionally(failure));
  }

  /** In two changes. The observers run between them: before anybody else has the slot. */
  void release(InMemoryLease lease) {
    boolean released =
        change(
            effects -> {
              boolean first = end(lease, lease.status().released(at));
              if (first) {
                lease.events().released();
              }
              return first;
            });
    if (!released) {
      return;
    }
    try {
      lease.events().tellObserversOfRelease();
    } finally {
      boolean unused = change(effects -> free(lease, effects));
    }
  }

  boolean lose(InMemoryLease lease, LossReason reason, Effects effects) {
    if (!end(lease, lease.status().lost(reason, at))) {
      return false;
    }
    lastLoss = new Loss(lease.lock() + ", slot " + lease.slot() + ": " + reason, time.instant(at));
    lease.events().lost(reason);
    return free(lease, effects);
  }

  /** Ends a lease, which still occupies its slots. Returns false if it has ended before. */
  private boolean end(InMemoryLease lease, LeaseStatus ended) {
    if (lease.status().isFinal()) {
      return false;
    }
    lease.become(ended);
    leases.remove(lease);
    idle.signalAll();
    return true;
  }

  private boolean free(InMemoryLease lease, Effects effects) {
    of(lease.lock()).free(lease);
    serve(lease.lock(), effects);
    return true;
  }

  void verify(InMemoryLease lease) {
    boolean unused =
        change(
            effects -> {
              if (!of(lease.lock()).isGone(lease)) {
                return false;
              }
              return lose(
                  lease,
                  lease.lock().kind() == LockKind.SLOT_SEMAPHORE
                      ? new LossReason(Cause.SLOT_REMOVED, "slot " + lease.slot() + " was removed")
                      : new LossReason(Cause.REVOKED, lease.lock() + " was destroyed"),
                  effects);
            });
  }

  void doubt(InMemoryLease lease, boolean uncertain) {
    boolean unused =
        change(
            effects -> {
              lease.become(lease.status().uncertain(uncertain));
              return uncertain;
            });
  }

  int doubtAll(LockId lock, boolean uncertain) {
    return change(
        effects -> {
          List<InMemoryLease> all = leasesOf(lock);
          all.forEach(lease -> lease.become(lease.status().uncertain(uncertain)));
          return all.size();
        });
  }

  private List<InMemoryLease> leasesOf(LockId lock) {
    return leases.stream().filter(lease -> lease.lock().equals(lock)).toList();
  }

  int loseAll(LockId lock, LossReason reason) {
    return change(effects -> loseAll(lock, reason, effects));
  }

  int loseAll(@Nullable LockId lock, LossReason reason, Effects effects) {
    List<InMemoryLease> lost = lock == null ? List.copyOf(leases) : leasesOf(lock);
    for (InMemoryLease lease : lost) {
      boolean unused = lose(lease, reason, effects);
    }
    return lost.size();
  }

  void setAvailable(boolean available) {
    boolean unused =
        change(
            effects -> {
              if (available) {
                connection.restore(!waiters().isEmpty());
                locks.values().forEach(lock -> serve(lock, effects));
                return true;
              }
              connection.cut();
              int lost =
                  loseAll(null, new LossReason(Cause.SESSION_ENDED, Connection.CUT), effects);
              for (Waiter waiter : waiters()) {
                LockException outage = connection.outage(waiter.lock());
                if (waiter.request().failFast() && outage != null) {
                  fail(waiter, outage, effects);
                }
              }
              return lost > 0;
            });
  }

  /** Refuses all calls from now on, and ends those that wait. Returns false if it did before. */
  boolean refuse() {
    return change(
        effects -> {
          for (Waiter waiter : waiters()) {
            fail(waiter, Connection.closed(waiter.lock()), effects);
          }
          return connection.close();
        });
  }

  /**
   * Waits for the holders in real time, and then releases what is still held. Returns what that
   * was, in words.
   */
  String close(Duration timeout) {
    monitor.lock();
    try {
      long left = TimeUnit.NANOSECONDS.convert(timeout);
      while (!leases.isEmpty() && left > 0) {
        left = idle.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      monitor.unlock();
    }
    List<InMemoryLease> left = leases();
    String asTheyWere = HeldLeases.lines(left);
    left.forEach(this::release);
    boolean unused =
        change(
            effects -> {
              connection.end(Connection.CLOSED);
              return true;
            });
    alarm.close();
    return asTheyWere;
  }

  List<InMemoryLease> leases() {
    return change(effects -> List.copyOf(leases));
  }

  List<Acquisition> history() {
    return change(effects -> List.copyOf(history));
  }

  Map<LockId, Integer> waiting() {
    return change(
        effects ->
            waiters().stream().collect(Collectors.toMap(Waiter::lock, waiter -> 1, Integer::sum)));
  }

  Optional<Loss> lastLoss() {
    return change(effects -> Optional.ofNullable(lastLoss));
  }

  Connection connection() {
    return connection;
  }
}
