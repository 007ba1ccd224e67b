package io.amqplocks.spring.internal.disabled;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.internal.time.Ticker;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lease where locks are switched off: held until it is closed, and never lost.
 *
 * <p>Concurrency: closed once and for all, by any thread; the time of the end is published with it.
 */
final class DisabledLease implements Lease {

  private final LockId lock;
  private final int permits;
  private final Ticker ticker;
  private final long begin;
  private volatile Optional<Duration> held = Optional.empty();

  DisabledLease(LockId lock, int permits, Ticker ticker) {
    this.lock = lock;
    this.permits = permits;
    this.ticker = ticker;
    begin = ticker.nanos();
  }

  @Override
  public LockId lock() {
    return lock;
  }

  @Override
  public int slot() {
    return 1;
  }

  @Override
  public int permits() {
    return permits;
  }

  /** None rather than one made up: a resource would go by it when the locks are back. */
  @Override
  public FencingToken fencingToken() {
    throw new LockException.NotFenced(
        "There is no fencing token of the %s, because amqp-locks.enabled is false: switch the locks on, or"
                .formatted(lock)
            + " do without the token where they are off");
  }

  @Override
  public Optional<FencingToken> fencingTokenIfAny() {
    return Optional.empty();
  }

  @Override
  public LeaseState state() {
    return held.isPresent() ? LeaseState.RELEASED : LeaseState.HELD;
  }

  @Override
  public LeaseState verify() {
    return state();
  }

  @Override
  public Optional<LossReason> lossReason() {
    return Optional.empty();
  }

  @Override
  public CompletionStage<LossReason> whenLost() {
    return new CompletableFuture<>();
  }

  @Override
  public Duration age() {
    return held.orElseGet(this::sinceTheBeginning);
  }

  @Override
  public void close() {
    if (held.isEmpty()) {
      held = Optional.of(sinceTheBeginning());
    }
  }

  private Duration sinceTheBeginning() {
    return Duration.ofNanos(ticker.nanos() - begin);
  }
}
