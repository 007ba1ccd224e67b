package io.amqplocks.spring.internal.disabled;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import io.amqplocks.spring.internal.time.Ticker;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A replacement for a lock while locks are disabled. It is always free, and protects nothing.
 *
 * @param id the lock
 * @param permits how many slots its leases say that they have
 */
public record DisabledLock(LockId id, int permits) implements AmqpLock {

  /** A replacement for a lock whose leases have one permit. */
  public DisabledLock(LockId id) {
    this(id, 1);
  }

  @Override
  public AmqpLock fenced() {
    return this;
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return this;
  }

  @Override
  public AmqpLock unfair() {
    return this;
  }

  @Override
  public AmqpLock failFast() {
    return this;
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw new LockException.Invalid(
          "The longest time to hold %s is %s; use more than zero".formatted(id, time));
    }
    return this;
  }

  @Override
  public AmqpLock withPermits(int wanted) {
    // Otherwise a number that no lock has would be found in production only.
    if (wanted < 1 || wanted > MAX_PERMITS) {
      throw new LockException.Invalid(
          "A lease of %d permits of %s is not possible; use 1 to %d"
              .formatted(wanted, id, MAX_PERMITS));
    }
    return new DisabledLock(id, wanted);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    return Optional.of(new DisabledLease(id, permits, Ticker.SYSTEM));
  }

  @Override
  public Lease acquire(Duration wait) {
    return new DisabledLease(id, permits, Ticker.SYSTEM);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    // Completed on the kind of thread on which a real lock would be acquired, for what is chained
    // to it.
    return CompletableFuture.supplyAsync(
        () -> new DisabledLease(id, permits, Ticker.SYSTEM), BackgroundExecutor::deliver);
  }
}
