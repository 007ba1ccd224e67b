package io.amqplocks.internal.mutex;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.QueueHolding;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import java.util.Optional;

/**
 * The "true mutex" of seed 002: whoever declares the exclusive queue holds it.
 *
 * @param queue the mutex's queue
 * @param leases where the lease is entered
 */
public record MutexClaim(String queue, Taking leases) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    return leases.take(call, session, new QueueHolding(call.lock(), 1, queue, null));
  }
}
