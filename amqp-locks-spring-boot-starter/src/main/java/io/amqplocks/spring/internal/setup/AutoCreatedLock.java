package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A semaphore that is created before it is acquired, if that was not possible at startup. The
 * semaphore of a key is created again when it turns out to be gone; that takes time of its own, as
 * at its first use, and the wait goes on with what is left of it.
 *
 * @param lock the semaphore
 * @param setup creates it
 * @param failsFast whether a known outage is thrown at once, also where it would be created
 */
public record AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup, boolean failsFast)
    implements AmqpLock {

  /** A semaphore that waits for the broker. */
  public AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup) {
    this(lock, setup, false);
  }

  @Override
  public LockId id() {
    return lock.id();
  }

  @Override
  public AmqpLock fenced() {
    return new AutoCreatedLock(lock.fenced(), setup, failsFast);
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return new AutoCreatedLock(lock.withPriority(priority), setup, failsFast);
  }

  @Override
  public AmqpLock unfair() {
    return new AutoCreatedLock(lock.unfair(), setup, failsFast);
  }

  @Override
  public AmqpLock failFast() {
    return new AutoCreatedLock(lock.failFast(), setup, true);
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    return new AutoCreatedLock(lock.holdAtMost(time), setup, failsFast);
  }

  @Override
  public AmqpLock withPermits(int permits) {
    return new AutoCreatedLock(lock.withPermits(permits), setup, failsFast);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    setup.ensure(id(), failsFast);
    try {
      return lock.tryAcquire();
    } catch (LockException.NotFound e) {
      createAgain(e);
      return lock.tryAcquire();
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    setup.ensure(id(), failsFast);
    long begin = System.nanoTime();
    try {
      return lock.acquire(wait);
    } catch (LockException.NotFound e) {
      Duration left = left(wait, begin);
      createAgain(e);
      return lock.acquire(left);
    }
  }

  private void createAgain(LockException.NotFound gone) {
    if (!setup.forget(id())) {
      throw setup.explained(id(), gone);
    }
    setup.ensure(id(), failsFast);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    if (setup.isPending(id())) {
      return CreateThenAcquire.acquire(
          () -> setup.ensure(id(), failsFast), () -> lock.acquireAsync(wait));
    }
    long begin = System.nanoTime();
    AtomicReference<Duration> left = new AtomicReference<>(Duration.ZERO);
    return CreateThenAcquire.again(
        lock.acquireAsync(wait),
        failure -> {
          left.set(left(wait, begin));
          return failure instanceof LockException.NotFound && setup.forget(id());
        },
        failure ->
            failure instanceof LockException.NotFound gone ? setup.explained(id(), gone) : failure,
        () -> setup.ensure(id(), failsFast),
        () -> lock.acquireAsync(left.get()));
  }

  private static Duration left(Duration wait, long begin) {
    Duration left = wait.minusNanos(System.nanoTime() - begin);
    return left.isNegative() ? Duration.ZERO : left;
  }
}
