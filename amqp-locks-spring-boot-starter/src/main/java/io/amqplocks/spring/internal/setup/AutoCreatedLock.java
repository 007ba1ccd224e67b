package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.time.Ticker;
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
 * @param ticker the time
 */
public record AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup, boolean failsFast, Ticker ticker)
    implements AmqpLock {

  /** A semaphore that waits for the broker. */
  public AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup) {
    this(lock, setup, false);
  }

  /** A semaphore that waits for the broker, or not. */
  public AutoCreatedLock(AmqpLock lock, SemaphoreSetup setup, boolean failsFast) {
    this(lock, setup, failsFast, Ticker.SYSTEM);
  }

  private AutoCreatedLock with(AmqpLock lock) {
    return new AutoCreatedLock(lock, setup, failsFast, ticker);
  }

  @Override
  public LockId id() {
    return lock.id();
  }

  @Override
  public AmqpLock fenced() {
    return with(lock.fenced());
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return with(lock.withPriority(priority));
  }

  @Override
  public AmqpLock unfair() {
    return with(lock.unfair());
  }

  @Override
  public AmqpLock failFast() {
    return new AutoCreatedLock(lock.failFast(), setup, true, ticker);
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    return with(lock.holdAtMost(time));
  }

  @Override
  public AmqpLock withPermits(int permits) {
    return with(lock.withPermits(permits));
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
    long begin = ticker.nanos();
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
    long begin = ticker.nanos();
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

  private Duration left(Duration wait, long begin) {
    Duration left = wait.minusNanos(ticker.nanos() - begin);
    return left.isNegative() ? Duration.ZERO : left;
  }
}
