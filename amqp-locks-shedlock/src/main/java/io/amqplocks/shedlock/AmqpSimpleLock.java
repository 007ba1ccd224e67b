package io.amqplocks.shedlock;

import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** One acquired lock, until it is unlocked or extended. As all of ShedLock's, of one thread. */
final class AmqpSimpleLock extends AbstractSimpleLock {

  private final Markers markers;
  private final ExpiringLease lease;
  private final Duration atLeast;
  private final long atLeastFrom;

  AmqpSimpleLock(
      LockConfiguration configuration,
      Markers markers,
      ExpiringLease lease,
      Duration atLeast,
      long atLeastFrom) {
    super(configuration);
    this.markers = markers;
    this.lease = lease;
    this.atLeast = atLeast;
    this.atLeastFrom = atLeastFrom;
  }

  /** The marker stays until its own time is over. */
  @Override
  protected void doUnlock() {
    lease.release();
  }

  @Override
  protected Optional<SimpleLock> doExtend(LockConfiguration wanted) {
    String name = wanted.getName();
    Markers.check(name, wanted.getLockAtLeastFor());
    if (!lease.isHeld()) {
      return Optional.empty();
    }
    long now = System.nanoTime();
    // First the lease: whoever has lost it must not touch the markers, which may be another's.
    if (!lease.extend(now, wanted.getLockAtMostFor())) {
      return Optional.empty();
    }
    Duration left = atLeast.minusNanos(now - atLeastFrom);
    if (wanted.getLockAtLeastFor().compareTo(left) < 0) {
      markers.replace(name, wanted.getLockAtLeastFor());
    } else {
      markers.mark(name, wanted.getLockAtLeastFor());
    }
    return lease.isHeld()
        ? Optional.of(new AmqpSimpleLock(wanted, markers, lease, wanted.getLockAtLeastFor(), now))
        : Optional.empty();
  }
}
