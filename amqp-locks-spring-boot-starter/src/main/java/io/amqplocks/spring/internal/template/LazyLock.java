package io.amqplocks.spring.internal.template;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A lock that is looked up when it is used: it is injected before all annotations have been read,
 * and one of them may say which algorithm it has. Looking up is cheap, and always gives the same.
 *
 * @param lookUp finds the lock
 */
record LazyLock(Supplier<AmqpLock> lookUp) implements AmqpLock {

  @Override
  public LockId id() {
    return lookUp.get().id();
  }

  @Override
  public AmqpLock fenced() {
    return new LazyLock(() -> lookUp.get().fenced());
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return new LazyLock(() -> lookUp.get().withPriority(priority));
  }

  @Override
  public AmqpLock unfair() {
    return new LazyLock(() -> lookUp.get().unfair());
  }

  @Override
  public AmqpLock failFast() {
    return new LazyLock(() -> lookUp.get().failFast());
  }

  @Override
  public AmqpLock withPermits(int permits) {
    return new LazyLock(() -> lookUp.get().withPermits(permits));
  }

  @Override
  public Optional<Lease> tryAcquire() {
    return lookUp.get().tryAcquire();
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    return lookUp.get().acquire(wait);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    return lookUp.get().acquireAsync(wait);
  }
}
