package io.amqplocks.spring.internal.metrics;

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
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one lock, or of all that have no meters of their own.
 *
 * <p>What is held is asked of the leases themselves and not summed up from notices, which the core
 * drops when a listener falls far behind: a sum would stay wrong for ever.
 *
 * <p>Concurrency: notices come one at a time; the gauge is read, and unguarded calls are counted,
 * by any thread.
 */
final class SingleLockMeters {

  private static final Set<LeaseState> ENDED = EnumSet.of(LeaseState.RELEASED, LeaseState.LOST);

  /** Without readers of the gauge, leases whose end was not reported must not pile up. */
  private static final int SWEEP_EVERY = 1000;

  private final @Nullable LockTimers timers;
  private final Map<Cause, Counter> lost = new EnumMap<>(Cause.class);
  private final Counter unguarded;
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();
  private int acquiredSinceSweep;

  /**
   * Meters in that registry.
   *
   * @param timed whether to time calls and leases, which nobody else does
   */
  SingleLockMeters(MeterRegistry registry, LockKind kind, String name, boolean timed) {
    Tags tags = tags(kind, name);
    timers = timed ? new LockTimers(registry, tags) : null;
    for (Cause cause : Cause.values()) {
      lost.put(
          cause,
          Counter.builder("amqp.locks.lost")
              .description(MeterDescriptions.LOSSES)
              .tags(tags.and("amqp.locks.cause", cause.name().toLowerCase(Locale.ROOT)))
              .register(registry));
    }
    unguarded =
        Counter.builder("amqp.locks.unguarded")
            .description("Calls that ran without the lock, because the broker was unavailable")
            .tags(tags)
            .register(registry);
    Gauge.builder("amqp.locks.held", this, SingleLockMeters::held)
        .description("Slots that this process holds, each permit of a lease counted")
        .tags(tags)
        .register(registry);
  }

  static Tags tags(LockKind kind, String name) {
    return Tags.of("amqp.locks.name", name, "amqp.locks.type", kind.label());
  }

  void acquired(Lease lease, Duration waited) {
    if (++acquiredSinceSweep >= SWEEP_EVERY) {
      acquiredSinceSweep = 0;
      held();
    }
    leases.add(lease);
    if (timers != null) {
      timers.acquired(waited);
    }
  }

  boolean holds(Lease lease) {
    return leases.contains(lease);
  }

  private int held() {
    leases.removeIf(lease -> ENDED.contains(lease.state()));
    return leases.stream().mapToInt(Lease::permits).sum();
  }

  void notAcquired(Outcome outcome, Duration waited) {
    if (timers != null) {
      timers.notAcquired(outcome, waited);
    }
  }

  void released(Lease lease, Duration held) {
    leases.remove(lease);
    if (timers != null) {
      timers.released(held);
    }
  }

  void ranWithout() {
    unguarded.increment();
  }

  void lost(Lease lease, Cause cause, Duration held) {
    leases.remove(lease);
    requireNonNull(lost.get(cause)).increment();
    if (timers != null) {
      timers.lost(held);
    }
  }
}
