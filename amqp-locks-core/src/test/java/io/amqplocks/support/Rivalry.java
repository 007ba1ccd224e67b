package io.amqplocks.support;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One lock that an old holder has and that somebody else wants all the time, and what each of both
 * was seen to say. Whoever gets it first after the old holder keeps it for a time, then gives it
 * back and takes it again, so that the broker has something to give back to the old one by mistake.
 * Each that says HELD writes to a table that refuses a lower number than the highest it has seen.
 *
 * <p>Concurrency: the rival's thread sets its current lease and the time of its first one, both
 * volatile; one other thread takes the samples and alone writes what is reckoned from them, and it
 * is read when that one has ended.
 */
public final class Rivalry implements AutoCloseable {

  private static final Duration TAKING = Duration.ofSeconds(90);
  private static final Duration LONGEST_WAIT = Duration.ofMillis(300);
  private static final Duration LATER_HOLDS = Duration.ofMillis(200);
  private static final long PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE = Duration.ofMillis(50).toNanos();

  private final String name;
  private final AmqpLock old;
  private final AmqpLock wanted;
  private final boolean fenced;
  private final Duration firstHold;
  private final CountDownLatch done = new CountDownLatch(1);
  private final Thread rival;
  private volatile @Nullable Lease held;
  private volatile @Nullable Lease current;
  private volatile long firstNanos;
  private final AtomicInteger turns = new AtomicInteger();
  private volatile @Nullable String lossOfFirst;

  private final TreeSet<Long> oldNumbers = new TreeSet<>();
  private final List<Lease> writers = new ArrayList<>();
  private long highest = Long.MIN_VALUE;
  private boolean overlapping;
  private long lastSampleNanos;
  private long overlapNanos;
  private long lastHeldNanos;

  /**
   * Of a lock by the name of a case.
   *
   * @param old the lock as its old holder sees it
   * @param wanted the same as the other one sees it
   * @param firstHold how long that one keeps it when it has it for the first time
   */
  public Rivalry(String name, AmqpLock old, AmqpLock wanted, boolean fenced, Duration firstHold) {
    this.name = name;
    this.old = fenced ? old.fenced() : old;
    this.wanted = fenced ? wanted.fenced() : wanted;
    this.fenced = fenced;
    this.firstHold = firstHold;
    this.rival = new Thread(this::want, "rival-" + name);
  }

  /** Lets the old holder take it, by asking. */
  public void take() throws InterruptedException {
    held = acquired(old);
  }

  /**
   * Lets the old holder wait for it until it is given to it. A cluster that was just made may end a
   * session meanwhile; then all begins anew.
   */
  public void awaitIt() throws Exception {
    long end = System.nanoTime() + TAKING.toNanos();
    while (!isGivenToTheWaiter()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(name + " was not given to who waits for it");
      }
    }
  }

  private boolean isGivenToTheWaiter() throws Exception {
    try (Lease first = acquired(wanted)) {
      Optional<Lease> second = tried(old);
      if (second.isPresent()) {
        return isNotTwice(first, second.get());
      }
      CompletableFuture<Lease> waiting = old.acquireAsync(TAKING);
      // Long enough to wait at the broker, on a channel of its own.
      Rivalries.pass(Duration.ofMillis(700));
      if (waiting.isDone()) {
        return !waiting.isCompletedExceptionally() && isNotTwice(first, waiting.join());
      }
      first.close();
      held = waiting.get(TAKING.toSeconds(), TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException broken) {
      if (broken.getCause() instanceof LockException) {
        return false;
      }
      throw broken;
    }
  }

  /** Throws if both are held; else gives the second one back, and is false. */
  private boolean isNotTwice(Lease first, Lease second) {
    try (second) {
      if (first.verify() == LeaseState.HELD && second.verify() == LeaseState.HELD) {
        throw new IllegalStateException(name + " is held twice");
      }
      return false;
    }
  }

  /** By asking, not by waiting; a machine that is slow now may need several tries. */
  private static Lease acquired(AmqpLock lock) throws InterruptedException {
    long end = System.nanoTime() + TAKING.toNanos();
    Optional<Lease> got = tried(lock);
    while (got.isEmpty()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(lock.id() + " is not to be had");
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      got = tried(lock);
    }
    return got.get();
  }

  private static Optional<Lease> tried(AmqpLock lock) throws InterruptedException {
    long end = System.nanoTime() + TAKING.toNanos();
    while (true) {
      try {
        return lock.tryAcquire();
      } catch (LockException broken) {
        if (System.nanoTime() - end > 0) {
          throw broken;
        }
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
  }

  /** Lets the other one want it from now on. */
  public void begin() {
    rival.start();
  }

  private void want() {
    try {
      while (done.getCount() > 0) {
        try {
          Lease got =
              turns.incrementAndGet() % 2 == 0
                  ? wanted.tryAcquire().orElse(null)
                  : wanted.acquire(LONGEST_WAIT);
          if (got != null) {
            keep(got);
          }
        } catch (LockException busyOrBroken) {
          // Once more.
        }
        var unused = done.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void keep(Lease lease) throws InterruptedException {
    try (lease) {
      long now = System.nanoTime();
      Duration span = LATER_HOLDS;
      if (firstNanos == 0) {
        firstNanos = now;
        span = firstHold;
      }
      current = lease;
      while (lease.state() != LeaseState.LOST
          && System.nanoTime() - now < span.toNanos()
          && !done.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {}
      lossOfFirst = lossOfFirst == null ? lease.state() + lossOf(lease) : lossOfFirst;
    } finally {
      current = null;
    }
  }

  /**
   * Looks at both and lets those write that say HELD. One thread, again and again. What is reckoned
   * as an overlap ends before this look and begins after the last one, and is 50 ms at most, so
   * that a machine that stalls in a look, or between two, does not add to it.
   */
  public void sample() {
    Lease ours = held;
    if (ours == null) {
      return;
    }
    long before = System.nanoTime();
    boolean oldHeld = write(ours);
    if (fenced) {
      oldNumbers.add(ours.fencingToken().number());
    }
    Lease theirs = current;
    boolean bothHeld = theirs != null && write(theirs) && oldHeld;
    long now = System.nanoTime();
    if (oldHeld) {
      lastHeldNanos = now;
    }
    if (bothHeld && overlapping) {
      overlapNanos += Math.min(before - lastSampleNanos, LONGEST_PAUSE);
    }
    overlapping = bothHeld;
    lastSampleNanos = now;
  }

  private boolean write(Lease lease) {
    if (lease.state() != LeaseState.HELD) {
      return false;
    }
    long number = lease.fencingTokenIfAny().map(FencingToken::number).orElse(highest);
    if (fenced && number >= highest) {
      highest = number;
      if (writers.isEmpty() || !writers.get(writers.size() - 1).equals(lease)) {
        writers.add(lease);
      }
    }
    return true;
  }

  public String name() {
    return name;
  }

  /** The old holder's lease. */
  public Lease old() {
    Lease lease = held;
    if (lease == null) {
      throw new IllegalStateException(name + " was not taken yet");
    }
    return lease;
  }

  /**
   * Why the other one cannot have it within that time, when nobody wants it any more; empty if it
   * can.
   */
  public String whyNotFree(Duration patience) throws InterruptedException {
    String why = "";
    long end = System.nanoTime() + patience.toNanos();
    do {
      try {
        wanted.acquire(Duration.ofSeconds(1)).close();
        return "";
      } catch (LockException notYet) {
        why = name + ": " + notYet;
      }
    } while (System.nanoTime() < end);
    return why;
  }

  /** Whether the other one has had it. */
  public boolean changedHands() {
    return firstNanos != 0;
  }

  /** How long both were seen to say HELD at the same time. */
  public Duration overlap() {
    return Duration.ofNanos(overlapNanos);
  }

  /** How many numbers the old holder's one lease was seen to have; none if it has none. */
  public int oldNumbers() {
    return oldNumbers.size();
  }

  /** Whether nobody's write was accepted after the write of somebody later. */
  public boolean isWrittenInOrder() {
    return writers.stream().distinct().count() == writers.size();
  }

  /** One line of it. */
  public String report(long startNanos) {
    return "%-28s overlap %6.3f s, old HELD until %s %s, other from %s, %d numbers%s, in order %s, turns %d"
        .formatted(
            name,
            overlapNanos / 1e9,
            after(lastHeldNanos, startNanos),
            old().state() + lossOf(old()),
            firstNanos == 0 ? "never" : after(firstNanos, startNanos) + ", " + lossOfFirst,
            oldNumbers.size(),
            oldNumbers.size() > 1 ? " +" + (oldNumbers.last() - oldNumbers.first()) : "",
            isWrittenInOrder(),
            turns.get());
  }

  private static String lossOf(Lease lease) {
    return lease.lossReason().map(reason -> " " + reason.cause()).orElse("");
  }

  private static String after(long nanos, long startNanos) {
    return nanos == 0 ? "never" : "%.2f s".formatted((nanos - startNanos) / 1e9);
  }

  /** Nobody wants it any more, and nobody holds it. */
  @Override
  public void close() throws InterruptedException {
    done.countDown();
    rival.join(TAKING.toMillis());
    if (rival.isAlive()) {
      AssertionError hangs = new AssertionError(name + ": a bounded call does not return");
      hangs.setStackTrace(rival.getStackTrace());
      rival.interrupt();
      throw hangs;
    }
    Lease ours = held;
    if (ours != null) {
      ours.close();
    }
  }
}
