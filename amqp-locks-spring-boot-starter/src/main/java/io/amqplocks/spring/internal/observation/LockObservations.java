package io.amqplocks.spring.internal.observation;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.amqplocks.spring.observation.DefaultLockAcquireConvention;
import io.amqplocks.spring.observation.DefaultLockHoldConvention;
import io.amqplocks.spring.observation.LockAcquireContext;
import io.amqplocks.spring.observation.LockAcquireConvention;
import io.amqplocks.spring.observation.LockHoldContext;
import io.amqplocks.spring.observation.LockHoldConvention;
import io.amqplocks.spring.observation.LockObservation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Event;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Observes each call for a lock as {@code amqp.locks.acquire} and each lease as {@code
 * amqp.locks.hold}, whichever way the lock is used: by annotation, template, or directly.
 *
 * <p>No scope is opened: a lease belongs to no thread. Both observations have as their parent what
 * is current where the call begins, and the lease is not the parent of the work that is done under
 * it.
 */
public final class LockObservations implements LockObserver {

  private static final LockAcquireConvention ACQUIRE = new DefaultLockAcquireConvention();
  private static final LockHoldConvention HOLD = new DefaultLockHoldConvention();

  private final ObservationRegistry registry;
  private final MetricNames names;
  private final @Nullable LockAcquireConvention acquireConvention;
  private final @Nullable LockHoldConvention holdConvention;

  /**
   * Observations in that registry.
   *
   * @param acquireConvention null for the default
   * @param holdConvention null for the default
   */
  public LockObservations(
      ObservationRegistry registry,
      MetricNames names,
      @Nullable LockAcquireConvention acquireConvention,
      @Nullable LockHoldConvention holdConvention) {
    this.registry = registry;
    this.names = names;
    this.acquireConvention = acquireConvention;
    this.holdConvention = holdConvention;
  }

  @Override
  public Attempt begin(LockId lock) {
    if (registry.isNoop()) {
      return Attempt.NO_OP;
    }
    LockAcquireContext context = new LockAcquireContext(lock, names.of(lock));
    return new Observed(
        context,
        // For the lease too, which may come about in another thread.
        registry.getCurrentObservation(),
        LockObservation.ACQUIRE
            .observation(acquireConvention, ACQUIRE, () -> context, registry)
            .start());
  }

  private final class Observed implements Attempt {
    private final LockAcquireContext context;
    private final @Nullable Observation parent;
    private final Observation observation;

    Observed(LockAcquireContext context, @Nullable Observation parent, Observation observation) {
      this.context = context;
      this.parent = parent;
      this.observation = observation;
    }

    @Override
    public Hold acquired(Lease lease) {
      context.setLease(lease);
      context.setOutcome("acquired");
      observation.stop();
      LockHoldContext held = new LockHoldContext(context.getLock(), context.getLockName());
      held.setLease(lease);
      Observation hold =
          LockObservation.HOLD
              .observation(holdConvention, HOLD, () -> held, registry)
              .parentObservation(parent)
              .start();
      return new ObservedHold(held, hold, holdConvention());
    }

    @Override
    public void notAcquired(Outcome outcome, @Nullable Throwable failure) {
      context.setOutcome(lowerCase(outcome));
      if (failure != null) {
        observation.error(failure);
      }
      observation.stop();
    }
  }

  private record ObservedHold(
      LockHoldContext context, Observation observation, LockHoldConvention convention)
      implements Hold {
    @Override
    public void released() {
      context.setOutcome("released");
      observation.stop();
    }

    @Override
    public void lost(LossReason reason) {
      context.setOutcome("lost");
      context.setLossReason(reason);
      // The handler of meters counts it by what is known at this moment.
      observation.lowCardinalityKeyValues(convention.getLowCardinalityKeyValues(context));
      observation.event(
          Event.of(LockObservation.Events.LOST.getName(), "lost: " + lowerCase(reason.cause())));
      observation.stop();
    }
  }

  private static String lowerCase(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  ObservationRegistry registry() {
    return registry;
  }

  /** The convention that counts for calls. */
  LockAcquireConvention acquireConvention() {
    return acquireConvention == null ? ACQUIRE : acquireConvention;
  }

  /** The convention that counts for leases. */
  LockHoldConvention holdConvention() {
    return holdConvention == null ? HOLD : holdConvention;
  }
}
