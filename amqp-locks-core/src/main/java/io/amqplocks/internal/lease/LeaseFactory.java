package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/** Creates leases. */
@FunctionalInterface
public interface LeaseFactory {

  /** Acquires a lease by winning the contest. Empty if another client holds the slot. */
  Optional<HeldLease> take(Call call, Session session, Hold.Contest contest);
}
