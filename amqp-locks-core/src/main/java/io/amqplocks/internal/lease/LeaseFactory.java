package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/** Creates leases. */
@FunctionalInterface
public interface LeaseFactory {

  /** Acquires a lease by winning the contest. Empty if another client holds the slot. */
  Optional<HeldLease> take(Call call, Session session, Hold.Contest contest);

  /**
   * Gives back a lease that is part of another one, and that no user was given. If the call has no
   * time left, the broker is asked in the background. Never throws.
   */
  static void giveBack(Call call, HeldLease part) {
    if (call.remainingNanos() > 0) {
      part.withdraw(call);
    } else {
      part.withdrawLater();
    }
  }
}
