package io.amqplocks.spring.metrics;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.SemaphoreSetup;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.OptionalInt;

/** How many calls wait in this process, and how many slots the semaphores have. */
public final class LockGauges implements MeterBinder {

  private final AmqpLocks locks;
  private final LockCatalog catalog;
  private final SemaphoreSetup setup;

  /** Gauges of those locks. */
  public LockGauges(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    this.locks = locks;
    this.catalog = catalog;
    this.setup = setup;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("amqp.locks.waiting", locks, l -> l.status().waiting())
        .description("Calls of this process that wait for a lock")
        .register(registry);
    catalog.watch(id -> registerSlots(registry, id));
  }

  /** Only where this application created or adopted it: a scrape must not ask the broker. */
  private void registerSlots(MeterRegistry registry, LockId id) {
    if (id.kind() == LockKind.SEMAPHORE || id.kind() == LockKind.TOKEN_SEMAPHORE) {
      Gauge.builder("amqp.locks.slots", setup, s -> toDouble(s.slots(id)))
          .description("Slots of the semaphore when this application created or adopted it")
          .tags(MetersOfLock.tags(id.kind(), id.name().value()))
          .register(registry);
    }
  }

  private static double toDouble(OptionalInt slots) {
    return slots.isPresent() ? slots.getAsInt() : Double.NaN;
  }
}
