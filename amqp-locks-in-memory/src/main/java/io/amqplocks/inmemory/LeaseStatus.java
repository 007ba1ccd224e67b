package io.amqplocks.inmemory;

import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * The state of a lease. A final one never changes.
 *
 * @param state the state
 * @param loss why it was lost; null if it was not
 * @param endedAt when it ended; 0 before that
 */
record LeaseStatus(LeaseState state, @Nullable LossReason loss, long endedAt) {

  static final LeaseStatus HELD = new LeaseStatus(LeaseState.HELD, null, 0);

  boolean isFinal() {
    return state == LeaseState.LOST || state == LeaseState.RELEASED;
  }

  LeaseStatus uncertain(boolean doubt) {
    return isFinal()
        ? this
        : new LeaseStatus(doubt ? LeaseState.UNCERTAIN : LeaseState.HELD, null, 0);
  }

  LeaseStatus lost(LossReason reason, long now) {
    return isFinal() ? this : new LeaseStatus(LeaseState.LOST, reason, now);
  }

  LeaseStatus released(long now) {
    return isFinal() ? this : new LeaseStatus(LeaseState.RELEASED, null, now);
  }
}
