package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/** Makes a lease of what it is held by. */
@FunctionalInterface
public interface Taking {

  /** Takes the lease, or answers empty if another holds it. */
  Optional<HeldLease> take(Call call, Session session, Holding holding);
}
