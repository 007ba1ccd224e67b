package io.amqplocks.juc;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Lock} that <strong>cannot promise that its holder is alone until it unlocks</strong>: it
 * is a lease that the broker may end, and the holder learns of that afterwards, at the latest by an
 * exception from {@link #unlock()}. Where an overlap could do harm, use a {@link Lease} with a
 * fencing token instead.
 *
 * <p>It is reentrant and bound to threads: only the thread that locked it can unlock it. A thread
 * that ends without unlocking keeps the lock until its {@code AmqpLocks} is closed.
 *
 * <p>Every method that acquires also throws what {@link AmqpLock#tryAcquire()} throws, for instance
 * {@link LockException.Unreachable}. If the calling thread holds the lock already and its lease has
 * been lost, the method throws {@link LockException.Lost}. If nobody can say whether it has, the
 * method throws {@link LockException.Unanswered}. The thread must then unlock as often as it has
 * locked, before it can acquire the lock anew.
 */
public final class ReentrantAmqpLock implements Lock {

  // Holds live with their threads (ReentrantLocks), and the core's queue decides which thread is
  // next. There is no state of several threads here.

  /** The longest time that a tryLock waits; no clock of the core has to add up more than that. */
  private static final long MAX_WAIT = TimeUnit.DAYS.toNanos(365);

  private final AmqpLock lock;
  private final ReentrantLocks holds;

  ReentrantAmqpLock(AmqpLock lock, ReentrantLocks holds) {
    this.lock = lock;
    this.holds = holds;
  }

  /**
   * Acquires the lock, however often the thread is interrupted meanwhile. An interrupt costs it its
   * place in the queue of waiters, and its interrupt flag is set at the end.
   *
   * @throws LockException.AcquireTimeout if the lock was not free within the time that {@link
   *     ReentrantLocks} was created with
   */
  @Override
  public void lock() {
    lockUninterruptibly(lock);
  }

  /**
   * Acquires the lock like {@link #lock()}, for that time at most. After it the lease is lost, as
   * {@link AmqpLock#holdAtMost} says. A thread that holds the lock already keeps it for as long as
   * its outermost call said.
   *
   * @throws LockException.Invalid if the time is not above zero
   */
  public void lock(Duration holdAtMost) {
    lockUninterruptibly(lock.holdAtMost(holdAtMost));
  }

  /**
   * Acquires the lock, unless the thread is interrupted.
   *
   * @throws LockException.AcquireTimeout if the lock was not free within the time that {@link
   *     ReentrantLocks} was created with
   */
  @Override
  public void lockInterruptibly() throws InterruptedException {
    stopIfInterrupted();
    try {
      if (!reentered()) {
        keep(lock.acquire(holds.longestWait()));
      }
    } catch (LockException.Interrupted e) {
      throw checked(e);
    }
  }

  /**
   * Acquires the lock if it is free, and waits for no holder. The broker is asked, which {@link
   * AmqpLock#tryAcquire()} bounds. An interrupt has no effect on the call, and the flag stays set.
   */
  @Override
  public boolean tryLock() {
    boolean interrupted = Thread.interrupted();
    try {
      return reentered() || keep(lock.tryAcquire().orElse(null));
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Acquires the lock if it becomes free within that time. A longer time than 365 days is 365. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return tryLock(lock, Duration.ofNanos(Math.min(unit.toNanos(time), MAX_WAIT)));
  }

  /**
   * Acquires the lock like {@link #tryLock(long, TimeUnit)}, for a limited time like {@link
   * #lock(Duration)}.
   *
   * @throws LockException.Invalid if {@code holdAtMost} is not above zero
   */
  public boolean tryLock(Duration wait, Duration holdAtMost) throws InterruptedException {
    Duration max = Duration.ofNanos(MAX_WAIT);
    return tryLock(lock.holdAtMost(holdAtMost), wait.compareTo(max) < 0 ? wait : max);
  }

  /**
   * Unlocks once. The outermost unlock releases the lease. If the lease is UNCERTAIN then, it is
   * released, and nobody says whether others have worked at the same time.
   *
   * @throws IllegalMonitorStateException if the calling thread does not hold the lock
   * @throws LockException.Lost from the outermost unlock, if the lease had been lost before; the
   *     thread does not hold the lock any more
   */
  @Override
  public void unlock() {
    Hold hold = holds.held(lock.id());
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "%s is not held by thread '%s'; the thread that locked it must unlock it"
              .formatted(lock.id(), Thread.currentThread().getName()));
    }
    if (hold.leave()) {
      holds.forget(lock.id());
      hold.release();
    }
  }

  /** Not supported: the broker cannot make a waiting thread release and acquire a lease. */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "%s has no conditions; wait for a message instead".formatted(lock.id()));
  }

  /**
   * Whether the calling thread has locked it and its lease is {@link LeaseState#HELD}. It is false
   * for a lease that is UNCERTAIN or LOST, although the thread still has to unlock. Sends nothing
   * to the broker.
   */
  public boolean isHeldByCurrentThread() {
    return lease().filter(lease -> lease.state() == LeaseState.HELD).isPresent();
  }

  /** How often the calling thread has to unlock, also if its lease was lost. */
  public int getHoldCount() {
    Hold hold = holds.held(lock.id());
    return hold == null ? 0 : hold.count();
  }

  /**
   * The lease of the calling thread, if it has locked this: for its state, its fencing token, and
   * to be told of a loss. Unlock the lock instead of closing the lease.
   */
  public Optional<Lease> lease() {
    return Optional.ofNullable(holds.held(lock.id())).map(hold -> hold.lease);
  }

  @Override
  public String toString() {
    return "ReentrantAmqpLock[" + lock.id() + "]";
  }

  private boolean tryLock(AmqpLock limited, Duration wait) throws InterruptedException {
    stopIfInterrupted();
    try {
      if (reentered()) {
        return true;
      }
      if (wait.isNegative() || wait.isZero()) {
        return keep(limited.tryAcquire().orElse(null));
      }
      return keep(limited.acquire(wait));
    } catch (LockException.AcquireTimeout busy) {
      return false;
    } catch (LockException.Interrupted e) {
      throw checked(e);
    }
  }

  private void lockUninterruptibly(AmqpLock limited) {
    if (reentered()) {
      return;
    }
    long began = System.nanoTime();
    Duration left = holds.longestWait();
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          keep(limited.acquire(left.isNegative() ? Duration.ZERO : left));
          return;
        } catch (InterruptedException | LockException.Interrupted again) {
          interrupted = true;
          // Whoever interrupts without end must not keep this thread here without end.
          if (left.isNegative()) {
            throw timeout();
          }
          Thread.interrupted();
          left = holds.longestWait().minusNanos(System.nanoTime() - began);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private LockException timeout() {
    LockException timeout =
        new LockException.AcquireTimeout(
            "%s was not free within %s".formatted(lock.id(), holds.longestWait()));
    timeout.initLock(lock.id());
    return timeout;
  }

  private boolean reentered() {
    Hold hold = holds.held(lock.id());
    if (hold == null) {
      return false;
    }
    hold.reenter();
    return true;
  }

  private boolean keep(@Nullable Lease lease) {
    if (lease == null) {
      return false;
    }
    holds.keep(new Hold(lease));
    return true;
  }

  /** An interrupt as {@link Lock} declares it, which clears the flag. The other one sets it. */
  private static InterruptedException checked(LockException.Interrupted e) {
    boolean unused = Thread.interrupted();
    InterruptedException interrupted = new InterruptedException(e.getMessage());
    interrupted.initCause(e);
    return interrupted;
  }

  private static void stopIfInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
