package io.amqplocks.spring.internal.metrics;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.spring.internal.observation.ExpectedObservation;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * The timers of one lock where nobody observes it: the same as observations have, without the tag
 * {@code error}.
 */
final class LockTimers {

  private static final String OUTCOME = "amqp.locks.outcome";

  private final Timer acquired;
  private final Map<Outcome, Timer> notAcquired = new EnumMap<>(Outcome.class);
  private final Timer released;
  private final Timer lost;

  LockTimers(MeterRegistry registry, Tags tags) {
    acquired = acquire(registry, tags, "acquired");
    for (Outcome outcome : Outcome.values()) {
      notAcquired.put(outcome, acquire(registry, tags, outcome.name().toLowerCase(Locale.ROOT)));
    }
    released = hold(registry, tags, "released");
    lost = hold(registry, tags, "lost");
  }

  private static Timer acquire(MeterRegistry registry, Tags tags, String outcome) {
    return Timer.builder("amqp.locks.acquire")
        .description(ExpectedObservation.CALL)
        .tags(tags.and(OUTCOME, outcome))
        .register(registry);
  }

  private static Timer hold(MeterRegistry registry, Tags tags, String outcome) {
    return Timer.builder("amqp.locks.hold")
        .description(ExpectedObservation.LEASE)
        .tags(tags.and(OUTCOME, outcome))
        .register(registry);
  }

  void acquired(Duration waited) {
    acquired.record(waited);
  }

  void notAcquired(Outcome outcome, Duration waited) {
    requireNonNull(notAcquired.get(outcome)).record(waited);
  }

  void released(Duration held) {
    released.record(held);
  }

  void lost(Duration held) {
    lost.record(held);
  }
}
