package io.amqplocks.spring.internal.metrics;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Times and counts what happens to locks. Each lock of the catalog has meters of its own,
 * registered as soon as it is known; all others share those of the name {@value #OTHER}, since
 * names made up at run time would grow the registry without bound.
 */
public final class LockMeters implements LockListener {

  /** The name under which locks are counted that no property, annotation or election names. */
  public static final String OTHER = MetricNames.OTHER;

  private final LockCatalog catalog;
  private final Map<LockId, SingleLockMeters> known = new ConcurrentHashMap<>();
  private final Map<LockKind, SingleLockMeters> others = new EnumMap<>(LockKind.class);

  /** Meters in that registry for the locks of that catalog. */
  public LockMeters(MeterRegistry registry, LockCatalog catalog) {
    this(registry, catalog, true);
  }

  /**
   * Meters in that registry for the locks of that catalog, with or without timers.
   *
   * @param timed whether to time calls and leases; false where they are observed, and timed so
   */
  public LockMeters(MeterRegistry registry, LockCatalog catalog, boolean timed) {
    this.catalog = catalog;
    for (LockKind kind : LockKind.values()) {
      others.put(kind, new SingleLockMeters(registry, kind, OTHER, timed));
    }
    catalog.watch(
        id -> known.put(id, new SingleLockMeters(registry, id.kind(), id.name().value(), timed)));
  }

  @Override
  public void acquired(Lease lease, Duration waited) {
    of(lease.lock()).acquired(waited);
  }

  @Override
  public void notAcquired(LockId lock, Outcome outcome, Duration waited) {
    of(lock).notAcquired(outcome, waited);
  }

  @Override
  public void released(Lease lease, Duration held) {
    of(lease.lock()).released(held);
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    of(lease.lock()).lost(reason.cause(), held);
  }

  /** A call of a guarded method ran without that lock. */
  public void ranWithout(LockId lock) {
    of(lock).ranWithout();
  }

  /** A lock that has a key is counted by its name. */
  private SingleLockMeters of(LockId id) {
    SingleLockMeters exactly = known.get(id);
    SingleLockMeters own = exactly != null ? exactly : known.get(catalog.known(id));
    return own != null ? own : requireNonNull(others.get(id.kind()));
  }
}
