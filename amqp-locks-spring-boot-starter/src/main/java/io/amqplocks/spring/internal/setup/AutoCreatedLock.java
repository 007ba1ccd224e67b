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
 */
public record AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup) implements AmqpLock {

  @Override
  public LockId id() {
    return lock.id();
  }

  @Override
  public AmqpLock fenced() {
    return new AutoCreatedLock(lock.fenced(), setup);
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return new AutoCreatedLock(lock.withPriority(priority), setup);
  }

  @Override
  public AmqpLock unfair() {
    return new AutoCreatedLock(lock.unfair(), setup);
  }

  @Override
  public AmqpLock failFast() {
    return new AutoCreatedLock(lock.failFast(), setup);
  }

  @Override
  public AmqpLock withPermits(int permits) {
    return new AutoCreatedLock(lock.withPermits(permits), setup);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    setup.ensure(id());
    try {
      return lock.tryAcquire();
    } catch (LockException.NotFound e) {
      createAgain(e);
      return lock.tryAcquire();
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    setup.ensure(id());
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
      throw gone;
    }
    setup.ensure(id());
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    if (setup.isPending(id())) {
      return CreateThenAcquire.acquire(() -> setup.ensure(id()), () -> lock.acquireAsync(wait));
    }
    if (!setup.createsAgain(id())) {
      return lock.acquireAsync(wait);
    }
    long begin = System.nanoTime();
    AtomicReference<Duration> left = new AtomicReference<>(Duration.ZERO);
    return CreateThenAcquire.again(
        lock.acquireAsync(wait),
        failure -> {
          left.set(left(wait, begin));
          return failure instanceof LockException.NotFound && setup.forget(id());
        },
        () -> setup.ensure(id()),
        () -> lock.acquireAsync(left.get()));
  }

  private static Duration left(Duration wait, long begin) {
    Duration left = wait.minusNanos(System.nanoTime() - begin);
    return left.isNegative() ? Duration.ZERO : left;
  }
}
