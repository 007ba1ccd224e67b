package io.amqplocks.internal.exclusive;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import java.util.Optional;

/**
 * Acquires the "true mutex" of the guidelines' overview. The client that declares the exclusive
 * queue holds the mutex.
 *
 * @param queue the mutex's queue
 * @param leases creates the lease
 */
public record ExclusiveQueueMutexClaim(String queue, LeaseFactory leases) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    Optional<HeldLease> lease =
        leases.take(call, session, ExclusiveQueueHold.contest(call.lock(), 1, queue, null));
    if (lease.isEmpty()) {
      // Another thread's request that is on its way does not make the mutex busy.
      ExclusiveQueues.of(session).requireReply(call, queue);
    }
    return lease;
  }
}
