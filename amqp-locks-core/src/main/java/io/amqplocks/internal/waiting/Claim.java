package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/** One attempt to take a slot of a lock: what tells one kind of lock from another. */
@FunctionalInterface
public interface Claim {

  /** Takes a slot if one is free, else answers empty; waits for no holder. */
  Optional<HeldLease> attempt(Call call, Session session);
}
