package io.amqplocks.internal.lease;

import io.amqplocks.lock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a lease, and how that changes: pure functions from one status to the next. LOST and
 * RELEASED are final, whatever comes later; a verification older than the newest changes nothing.
 *
 * @param phase where the lease is in its life
 * @param verifiedAt when the last good verification was sent
 * @param loss why it was lost, if it was
 */
record LeaseStatus(Phase phase, long verifiedAt, @Nullable LossReason loss) {

  /** A lease's life. */
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

  /** A lease whose acquisition was sent at that time. */
  static LeaseStatus pending(long sentAt) {
    return new LeaseStatus(Phase.PENDING, sentAt, null);
  }

  /** All steps of the acquisition are done. */
  LeaseStatus acquired() {
    return phase == Phase.PENDING ? new LeaseStatus(Phase.HELD, verifiedAt, null) : this;
  }

  /** The broker confirmed the lease, in answer to what was sent at that time. */
  LeaseStatus verified(long sentAt) {
    return phase.isFinal() || sentAt - verifiedAt <= 0
        ? this
        : new LeaseStatus(phase, sentAt, null);
  }

  /** The lease is gone. */
  LeaseStatus lost(LossReason reason) {
    return phase.isFinal() ? this : new LeaseStatus(Phase.LOST, verifiedAt, reason);
  }

  /** The holder gives it back. */
  LeaseStatus released() {
    return phase.isFinal() ? this : new LeaseStatus(Phase.RELEASED, verifiedAt, null);
  }
}
