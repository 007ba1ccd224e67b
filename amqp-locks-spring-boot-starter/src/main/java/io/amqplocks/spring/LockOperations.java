package io.amqplocks.spring;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What can be done with one lock. Immutable; a lock is held from when a call has acquired it until
 * its work has returned or thrown.
 *
 * <p>Besides what the work itself throws, each call throws {@link io.amqplocks.lock.LockException}
 * as {@link AmqpLock} says; then the work did not run. A lease that is lost meanwhile does not stop
 * the work: see {@link LeaseLostEvent}, or acquire a {@link Lease} and ask it.
 */
public final class LockOperations {

  private final AmqpLock lock;
  private final SemaphoreSetup setup;
  private final Duration wait;

  LockOperations(AmqpLock lock, SemaphoreSetup setup, Duration wait) {
    this.lock = lock;
    this.setup = setup;
    this.wait = wait;
  }

  /** The same lock with another bound on waiting than the configured one. */
  public LockOperations waiting(Duration atMost) {
    return new LockOperations(lock, setup, atMost);
  }

  /**
   * The same lock with a fencing token in each lease: see {@link AmqpLock#fenced()}.
   */
  public LockOperations fenced() {
    return new LockOperations(lock.fenced(), setup, wait);
  }

  /**
   * The same lock for calls that are served before all that wait with a lower priority, in any
   * process. Without, the priority is 0.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the lock's algorithm has no priorities; that
   *     of tokens has
   */
  public LockOperations withPriority(int priority) {
    return new LockOperations(lock.withPriority(priority), setup, wait);
  }

  /**
   * Waits for the lock, does the work and gives the lock back.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public <T extends @Nullable Object, E extends Throwable> T execute(GuardedCall<T, E> work)
      throws E {
    Lease lease = acquire();
    try {
      return work.call();
    } finally {
      lease.close();
    }
  }

  /** As {@link #execute(GuardedCall)}, for work without a result. */
  public <E extends Throwable> void execute(GuardedRun<E> work) throws E {
    Lease lease = acquire();
    try {
      work.run();
    } finally {
      lease.close();
    }
  }

  /** Does the work if the lock is free; does not wait for a holder. */
  public <T extends @Nullable Object, E extends Throwable> Attempt<T> tryExecute(
      GuardedCall<T, E> work) throws E {
    Optional<Lease> lease = tryAcquire();
    if (lease.isEmpty()) {
      return Attempt.busy();
    }
    try {
      return Attempt.executed(work.call());
    } finally {
      lease.get().close();
    }
  }

  /**
   * As {@link #tryExecute(GuardedCall)}, for work without a result.
   *
   * @return whether the work ran; false if the lock was busy
   */
  public <E extends Throwable> boolean tryExecute(GuardedRun<E> work) throws E {
    Optional<Lease> lease = tryAcquire();
    if (lease.isEmpty()) {
      return false;
    }
    try {
      work.run();
      return true;
    } finally {
      lease.get().close();
    }
  }

  /**
   * Does work that goes on after it was begun, without a thread that waits for the lock. When the lock
   * is had, the work is begun on a thread of the library; the lock is held until the work's stage
   * completes. Then it is given back, and after that the returned future completes as the stage did,
   * with what {@link #acquire()} throws if the lock was not had, or with what beginning threw.
   *
   * <p>The work runs in the context of the caller's class loader; what else the caller's thread keeps in
   * thread-locals, as a security context, a transaction or logging's MDC, is not there.
   *
   * <p>A caller that completes the returned future itself, as by cancelling it or by {@code orTimeout},
   * ends the waiting. Work that has begun keeps the lock until its stage has completed, for to cancel
   * a {@code CompletableFuture} does not end what works on it. A stage of a class with a {@code cancel}
   * of its own, as that of {@code Mono.toFuture()} or of the JDK's HTTP client, is cancelled, and trusted
   * to end its work so. A stage that never completes keeps the lock for ever: give it a timeout of
   * its own.
   */
  public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
      Supplier<? extends CompletionStage<T>> work) {
    return AsyncExecution.under(acquireAsync(), work);
  }

  /**
   * Waits for the lock and leaves it to the caller to close the lease, from whatever thread.
   *
   * @throws io.amqplocks.lock.LockException.AcquireTimeout if the lock was busy for too long
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread was interrupted while waiting
   */
  public Lease acquire() {
    setup.ensure(lock.id());
    try {
      return acquireOrMake();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for " + lock.id());
    }
  }

  private Lease acquireOrMake() throws InterruptedException {
    long begin = System.nanoTime();
    try {
      return lock.acquire(wait);
    } catch (LockException.NotFound e) {
      Duration left = leftSince(begin);
      if (!setup.forget(lock.id())) {
        throw e;
      }
      setup.ensure(lock.id());
      return lock.acquire(left);
    }
  }

  /** Of the time to wait. To create a semaphore takes its own, as at its first use. */
  private Duration leftSince(long begin) {
    Duration left = wait.minusNanos(System.nanoTime() - begin);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /**
   * The same without a thread that waits, as {@link AmqpLock#acquireAsync} says: whoever completes
   * the future does it on a thread of the library, and cancelling it ends the waiting. Throws
   * nothing itself.
   */
  public CompletableFuture<Lease> acquireAsync() {
    try {
      return setup.ensures(lock.id())
          ? FirstUse.acquire(() -> setup.ensure(lock.id()), () -> lock.acquireAsync(wait))
          : acquireOrMakeAsync();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<Lease> acquireOrMakeAsync() {
    if (!setup.isOfKey(lock.id())) {
      return lock.acquireAsync(wait);
    }
    long begin = System.nanoTime();
    AtomicReference<Duration> left = new AtomicReference<>(Duration.ZERO);
    return FirstUse.again(
        lock.acquireAsync(wait),
        failure -> {
          left.set(leftSince(begin));
          return failure instanceof LockException.NotFound && setup.forget(lock.id());
        },
        () -> setup.ensure(lock.id()),
        () -> lock.acquireAsync(left.get()));
  }

  /** The lock if it is free, for the caller to close. */
  public Optional<Lease> tryAcquire() {
    setup.ensure(lock.id());
    try {
      return lock.tryAcquire();
    } catch (LockException.NotFound e) {
      if (!setup.forget(lock.id())) {
        throw e;
      }
      setup.ensure(lock.id());
      return lock.tryAcquire();
    }
  }
}
