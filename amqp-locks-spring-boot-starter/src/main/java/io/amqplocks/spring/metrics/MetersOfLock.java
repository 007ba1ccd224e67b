package io.amqplocks.spring.metrics;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LossReason.Cause;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The meters of one lock, or of all that have no meters of their own.
 *
 * <p>What is held is asked of the leases themselves and not summed up from notices, which the core
 * drops when a listener falls far behind: a sum would stay wrong for ever.
 *
 * <p>Concurrency: notices come one at a time; the gauge is read by any thread.
 */
final class MetersOfLock {

  private static final Set<LeaseState> ENDED = EnumSet.of(LeaseState.RELEASED, LeaseState.LOST);

  /** Where nobody reads the gauge, leases whose end was not told must not pile up. */
  private static final int SWEEP_EVERY = 1000;

  private final Timer acquired;
  private final Map<Outcome, Timer> notAcquired = new EnumMap<>(Outcome.class);
  private final Timer hold;
  private final Map<Cause, Counter> lost = new EnumMap<>(Cause.class);
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();
  private int acquiredSinceSweep;

  MetersOfLock(MeterRegistry registry, LockKind kind, String name) {
    Tags tags = tags(kind, name);
    acquired = acquire(registry, tags, "acquired");
    for (Outcome outcome : Outcome.values()) {
      notAcquired.put(outcome, acquire(registry, tags, lowerCase(outcome)));
    }
    hold =
        Timer.builder("amqp.locks.hold")
            .description("From the acquire of a lease to its release or loss")
            .tags(tags)
            .register(registry);
    for (Cause cause : Cause.values()) {
      lost.put(
          cause,
          Counter.builder("amqp.locks.lost")
              .description("Leases that were lost and not released")
              .tags(tags.and("amqp.locks.cause", lowerCase(cause)))
              .register(registry));
    }
    Gauge.builder("amqp.locks.held", this, MetersOfLock::held)
        .description("Leases that this process holds")
        .tags(tags)
        .register(registry);
  }

  static Tags tags(LockKind kind, String name) {
    return Tags.of("amqp.locks.name", name, "amqp.locks.type", kind.label());
  }

  private static Timer acquire(MeterRegistry registry, Tags tags, String outcome) {
    return Timer.builder("amqp.locks.acquire")
        .description("From the call for a lock to its end")
        .tags(tags.and("amqp.locks.outcome", outcome))
        .register(registry);
  }

  private static String lowerCase(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  void acquired(Lease lease, Duration waited) {
    if (++acquiredSinceSweep >= SWEEP_EVERY) {
      acquiredSinceSweep = 0;
      held();
    }
    leases.add(lease);
    acquired.record(waited);
  }

  boolean holds(Lease lease) {
    return leases.contains(lease);
  }

  private int held() {
    leases.removeIf(lease -> ENDED.contains(lease.state()));
    return leases.size();
  }

  void notAcquired(Outcome outcome, Duration waited) {
    requireNonNull(notAcquired.get(outcome)).record(waited);
  }

  void ended(Lease lease, Duration held) {
    leases.remove(lease);
    hold.record(held);
  }

  void lost(Cause cause) {
    requireNonNull(lost.get(cause)).increment();
  }
}
