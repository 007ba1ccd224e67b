package io.amqplocks.shedlock;

import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One acquired lock, until it is unlocked or extended. As all of ShedLock's, of one thread. */
final class AmqpSimpleLock extends AbstractSimpleLock {

  // Once extend has returned, be it empty, ShedLock refuses to unlock or extend this object again.
  // So where it returns empty, nobody else would release the lease. It does so only for a lease
  // that has ended: an UNCERTAIN one may still be held, and its job goes on. If extend throws, the
  // object stays as it was, but KeepAliveLockProvider extends nothing any more, since its timer
  // drops a task that throws. So it throws for arguments only.

  private static final Logger log = LoggerFactory.getLogger(AmqpLockProvider.class);

  private final Markers markers;
  private final ExpiringLease lease;
  private final Minimum minimum;

  AmqpSimpleLock(
      LockConfiguration configuration, Markers markers, ExpiringLease lease, Minimum minimum) {
    super(configuration);
    this.markers = markers;
    this.lease = lease;
    this.minimum = minimum;
  }

  /** The marker stays until its own time is over. */
  @Override
  protected void doUnlock() {
    release();
  }

  @Override
  protected Optional<SimpleLock> doExtend(LockConfiguration wanted) {
    Markers.check(wanted.getName(), wanted.getLockAtLeastFor());
    LeaseState state = lease.verified();
    long now = System.nanoTime();
    // First the lease: whoever has lost it must not touch the markers, which may be another's.
    if (lease.hasEnded() || !lease.extend(now, wanted.getLockAtMostFor())) {
      return ended();
    }
    Minimum kept = keep(wanted, state, now);
    return lease.hasEnded()
        ? ended()
        : Optional.of(new AmqpSimpleLock(wanted, markers, lease, kept));
  }

  private Optional<SimpleLock> ended() {
    release();
    return Optional.empty();
  }

  /** ShedLock tells a job nothing while it runs, so this is the first who hears of a loss. */
  private void release() {
    lease
        .release()
        .ifPresent(
            why ->
                log.warn(
                    "The lock '{}' was lost before its job had ended: {}. Another node may have run the job meanwhile",
                    lockConfiguration.getName(),
                    why));
  }

  /**
   * Keeps the lock for a new minimum, if the markers have to be changed for that. If they cannot
   * be, the extension counts all the same: the job still runs, and what keeps others from it now is
   * the lease.
   */
  private Minimum keep(LockConfiguration wanted, LeaseState state, long now) {
    String name = wanted.getName();
    Duration atLeast = wanted.getLockAtLeastFor();
    Minimum.Change change = minimum.to(atLeast, now);
    if (change == Minimum.Change.NONE) {
      return minimum;
    }
    if (state != LeaseState.HELD) {
      log.warn(
          "The lock '{}' is extended, but its lockAtLeastFor is not changed to {}, because the broker does not confirm that the lock is held",
          name,
          atLeast);
      return minimum;
    }
    try {
      if (change == Minimum.Change.REPLACE) {
        markers.replace(name, atLeast);
      } else {
        markers.mark(name, atLeast);
      }
      return new Minimum(atLeast, now, true);
    } catch (LockException e) {
      log.warn(
          "The lock '{}' is extended, but it is not known to be kept for a lockAtLeastFor of {}",
          name,
          atLeast,
          e);
      return minimum.inDoubt(atLeast, now);
    }
  }
}
