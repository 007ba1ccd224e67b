package io.amqplocks.internal.readwrite;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.consuming.Access;
import io.amqplocks.internal.consuming.ConsumerHold;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import java.util.Optional;

/**
 * Acquires a read lock by consuming the lock's queue beside other readers (ADR 81). The queue's
 * process refuses the consumer while a writer has it, and that alone keeps readers and writers
 * apart.
 *
 * <p>Readers do not overtake a writer that waits, or it would wait forever. A writer stands at the
 * gate, a mutex, while it waits and while it holds. A reader that finds somebody there goes to the
 * end of the line. So it is served after the writers before it, and before those that come later.
 *
 * @param queue the lock's queue
 * @param gate the mutex of who is next
 * @param leases creates the lease
 */
public record ReadClaim(String queue, MutexClaim gate, LeaseFactory leases) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    // Before the look: nothing that takes long is to come between it and the consume.
    ReadWriteQueues.of(session).declareOnce(call, queue);
    return gate.contenders(call, session) > 0 ? Optional.empty() : take(call, session);
  }

  /** Acquires the lock without a look at the gate. */
  Optional<HeldLease> take(Call call, Session session) {
    return leases.take(
        call,
        session,
        (same, own) ->
            ReadWriteQueues.of(own)
                .take(same, queue, Access.SHARED)
                .map(consumer -> new ConsumerHold(same.lock(), consumer, Access.SHARED, null)));
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    return new ReadSubscription(this, session, new Turn(gate.subscribe(call, session, wake), wake));
  }
}
