package io.amqplocks.spring;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What stands for a lock where locks are switched off: always free, and guards nothing. */
record NoLock(LockId id) implements AmqpLock {

  @Override
  public AmqpLock fenced() {
    return this;
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return this;
  }

  @Override
  public Optional<Lease> tryAcquire() {
    return Optional.of(new NoLease(id));
  }

  @Override
  public Lease acquire(Duration wait) {
    return new NoLease(id);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    // On the thread that a real one would be had on, for what is chained to it.
    return CompletableFuture.supplyAsync(() -> new NoLease(id), Background::tell);
  }
}
