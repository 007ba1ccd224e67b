package io.amqplocks.internal.lease;

import io.amqplocks.lock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * The status of a lease. Changes are pure functions from one status to the next. LOST and RELEASED
 * are final. A verification that is older than the newest one changes nothing.
 *
 * @param phase the phase of the lease's life
 * @param verifiedAt when the last good verification was sent
 * @param loss why the lease was lost, if it was
 */
record LeaseStatus(Phase phase, long verifiedAt, @Nullable LossReason loss) {

  /** The phases of a lease's life. */
  enum Phase {
    /** Being acquired; nobody has it yet. */
    PENDING,
    /** The holder has it. */
    HELD,
    LOST,
    RELEASED;

    boolean isFinal() {
      return this == LOST || this == RELEASED;
    }
  }

  /** The status of a lease whose acquisition was sent at that time. */
  static LeaseStatus pending(long sentAt) {
    return new LeaseStatus(Phase.PENDING, sentAt, null);
  }

  /** The status when all steps of the acquisition are done. */
  LeaseStatus acquired() {
    return phase == Phase.PENDING ? new LeaseStatus(Phase.HELD, verifiedAt, null) : this;
  }

  /** The status after the broker confirmed the lease, in reply to a request sent at that time. */
  LeaseStatus verified(long sentAt) {
    return phase.isFinal() || sentAt - verifiedAt <= 0
        ? this
        : new LeaseStatus(phase, sentAt, null);
  }

  /** The status after the lease was lost. */
  LeaseStatus lost(LossReason reason) {
    return phase.isFinal() ? this : new LeaseStatus(Phase.LOST, verifiedAt, reason);
  }

  /** The status after the holder gave the lease back. */
  LeaseStatus released() {
    return phase.isFinal() ? this : new LeaseStatus(Phase.RELEASED, verifiedAt, null);
  }
}
