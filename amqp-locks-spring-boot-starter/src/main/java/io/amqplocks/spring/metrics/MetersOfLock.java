package io.amqplocks.spring.metrics;

import static java.util.Objects.requireNonNull;

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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of one lock, or of all that have no meters of their own. */
final class MetersOfLock {

  private final Timer acquired;
  private final Map<Outcome, Timer> notAcquired = new EnumMap<>(Outcome.class);
  private final Timer hold;
  private final Map<Cause, Counter> lost = new EnumMap<>(Cause.class);
  private final AtomicInteger held = new AtomicInteger();

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
    Gauge.builder("amqp.locks.held", held, AtomicInteger::get)
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

  void acquired(Duration waited) {
    held.incrementAndGet();
    acquired.record(waited);
  }

  void notAcquired(Outcome outcome, Duration waited) {
    requireNonNull(notAcquired.get(outcome)).record(waited);
  }

  void ended(Duration held) {
    this.held.decrementAndGet();
    hold.record(held);
  }

  void lost(Cause cause) {
    requireNonNull(lost.get(cause)).increment();
  }
}
