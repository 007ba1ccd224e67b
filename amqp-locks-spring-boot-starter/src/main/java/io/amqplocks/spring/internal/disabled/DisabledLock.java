package io.amqplocks.spring.internal.disabled;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A replacement for a lock while locks are disabled. It is always free, and protects nothing. */
public record DisabledLock(LockId id) implements AmqpLock {

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
  public Optional<Lease> tryAcquire() {
    return Optional.of(new DisabledLease(id));
  }

  @Override
  public Lease acquire(Duration wait) {
    return new DisabledLease(id);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    // Completed on the kind of thread on which a real lock would be acquired, for what is chained
    // to it.
    return CompletableFuture.supplyAsync(() -> new DisabledLease(id), BackgroundExecutor::deliver);
  }
}
