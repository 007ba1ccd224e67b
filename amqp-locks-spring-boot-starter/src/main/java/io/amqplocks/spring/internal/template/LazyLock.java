package io.amqplocks.spring.internal.template;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.nesting.LockOwner;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A lock that is looked up when it is used: it is injected before all annotations have been read,
 * and one of them may say which algorithm it has. Looking up is cheap, and always gives the same.
 *
 * @param lookUp finds the lock
 * @param owner where it is looked up
 */
record LazyLock(Supplier<AmqpLock> lookUp, Object owner) implements AmqpLock, LockOwner {

  @Override
  public LockId id() {
    return lookUp.get().id();
  }

  @Override
  public AmqpLock fenced() {
    return new LazyLock(() -> lookUp.get().fenced(), owner);
  }

  @Override
  public AmqpLock withPriority(int priority) {
    return new LazyLock(() -> lookUp.get().withPriority(priority), owner);
  }

  @Override
  public AmqpLock unfair() {
    return new LazyLock(() -> lookUp.get().unfair(), owner);
  }

  @Override
  public AmqpLock failFast() {
    return new LazyLock(() -> lookUp.get().failFast(), owner);
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    return new LazyLock(() -> lookUp.get().holdAtMost(time), owner);
  }

  @Override
  public AmqpLock withPermits(int permits) {
    return new LazyLock(() -> lookUp.get().withPermits(permits), owner);
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
