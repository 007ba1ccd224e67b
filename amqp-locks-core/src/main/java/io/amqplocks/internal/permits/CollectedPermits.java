package io.amqplocks.internal.permits;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.lease.PermitsHold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The slots that one call has collected so far. Each is a lease of its own, which is verified like
 * any other, and of which no user hears. They become one lease, or go back.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class CollectedPermits {

  private final int wanted;
  private final LeaseFactory leases;
  private final List<HeldLease> parts = new ArrayList<>();

  CollectedPermits(int wanted, LeaseFactory leases) {
    this.wanted = wanted;
    this.leases = leases;
  }

  /**
   * Adds a slot.
   *
   * @param lost is called if it is lost before it is part of a lease; must not block
   */
  void add(HeldLease part, Runnable lost) {
    part.onLoss(lost);
    parts.add(part);
  }

  /** Forgets what was lost in the meantime, which is not held at the broker any more. */
  void dropLost() {
    parts.removeIf(part -> part.state() == LeaseState.LOST);
  }

  boolean isComplete() {
    return parts.size() == wanted;
  }

  /**
   * The lease of all slots. Empty if it cannot begin with one of them now, because that one is
   * UNCERTAIN, being verified, or was lost. All are then kept.
   */
  Optional<HeldLease> lease(Call call) {
    Session session = parts.get(0).session().shared();
    if (!PermitsHold.mayBegin(parts, session)) {
      return Optional.empty();
    }
    // From here on they belong to the lease. If one is lost right now, all of them go back with it.
    List<HeldLease> all = List.copyOf(parts);
    parts.clear();
    return leases.take(call, session, PermitsHold.contest(all));
  }

  /** Gives all slots back. Never throws. */
  void giveBack(Call call) {
    PermitsHold.giveBack(call, List.copyOf(parts));
    parts.clear();
  }
}
