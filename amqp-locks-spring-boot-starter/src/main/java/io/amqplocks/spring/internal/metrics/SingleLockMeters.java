package io.amqplocks.spring.internal.metrics;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LossReason.Cause;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The meters of one lock, or of all that have no meters of their own. */
final class SingleLockMeters {

  private final @Nullable LockTimers timers;
  private final Map<Cause, Counter> lost = new EnumMap<>(Cause.class);
  private final Counter unguarded;

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
  }

  static Tags tags(LockKind kind, String name) {
    return Tags.of("amqp.locks.name", name, "amqp.locks.type", kind.label());
  }

  void acquired(Duration waited) {
    if (timers != null) {
      timers.acquired(waited);
    }
  }

  void notAcquired(Outcome outcome, Duration waited) {
    if (timers != null) {
      timers.notAcquired(outcome, waited);
    }
  }

  void released(Duration held) {
    if (timers != null) {
      timers.released(held);
    }
  }

  void ranWithout() {
    unguarded.increment();
  }

  void lost(Cause cause, Duration held) {
    requireNonNull(lost.get(cause)).increment();
    if (timers != null) {
      timers.lost(held);
    }
  }
}
