package io.amqplocks.spring.internal.metrics;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Whether there is a session, what is held, how many calls wait, and how many slots the semaphores
 * have.
 *
 * <p>What is held is asked of the locks and not summed up from notices. These come late while a
 * listener of the application is slow, and the core drops them when it falls far behind.
 */
public final class LockGauges implements MeterBinder {

  private final AmqpLocks locks;
  private final LockCatalog catalog;
  private final SlotNumbers slots;

  /** Gauges of those locks. */
  public LockGauges(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    this.locks = locks;
    this.catalog = catalog;
    slots = new SlotNumbers(locks, setup);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("amqp.locks.session", locks, l -> l.status().session() == Session.OPEN ? 1 : 0)
        .description("1 while this process has a session with the broker")
        .register(registry);
    MetricNames names = new MetricNames(catalog);
    for (LockKind kind : LockKind.values()) {
      registerHeld(registry, names, kind, MetricNames.OTHER);
      registerWaiting(registry, names, kind, MetricNames.OTHER);
    }
    catalog.watch(
        id -> {
          registerHeld(registry, names, id.kind(), id.name().value());
          registerWaiting(registry, names, id.kind(), id.name().value());
          registerSlots(registry, id);
        });
  }

  private void registerHeld(MeterRegistry registry, MetricNames names, LockKind kind, String name) {
    Gauge.builder("amqp.locks.held", locks, l -> held(l, names, kind, name))
        .description("Slots that this process holds, each permit of a lease counted")
        .tags(SingleLockMeters.tags(kind, name))
        .register(registry);
  }

  private static int held(AmqpLocks locks, MetricNames names, LockKind kind, String name) {
    return locks.leases().stream()
        .filter(lease -> isOf(lease.lock(), names, kind, name))
        .mapToInt(LeaseSnapshot::permits)
        .sum();
  }

  private static boolean isOf(LockId lock, MetricNames names, LockKind kind, String name) {
    return lock.kind() == kind && names.of(lock).equals(name);
  }

  private void registerWaiting(
      MeterRegistry registry, MetricNames names, LockKind kind, String name) {
    Gauge.builder("amqp.locks.waiting", locks, l -> waiting(l, names, kind, name))
        .description("Calls of this process that wait for a lock")
        .tags(SingleLockMeters.tags(kind, name))
        .register(registry);
  }

  /** Only locks that somebody waits for are looked at: few. */
  private static int waiting(AmqpLocks locks, MetricNames names, LockKind kind, String name) {
    return locks.waiting().entrySet().stream()
        .filter(entry -> isOf(entry.getKey(), names, kind, name))
        .mapToInt(Map.Entry::getValue)
        .sum();
  }

  /** Only where this application created or adopted it. A scrape does not wait for the broker. */
  private void registerSlots(MeterRegistry registry, LockId id) {
    if (id.kind().family() == Family.SEMAPHORE) {
      Gauge.builder("amqp.locks.slots", slots, s -> toDouble(s.of(id)))
          .description("Slots of the semaphore, as the broker said half a minute ago or later")
          .tags(SingleLockMeters.tags(id.kind(), id.name().value()))
          .register(registry);
    }
  }

  private static double toDouble(OptionalInt slots) {
    return slots.isPresent() ? slots.getAsInt() : Double.NaN;
  }
}
