package io.amqplocks.internal.persistent;

import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.consuming.ConsumerHold;
import io.amqplocks.internal.consuming.HoldingConsumers;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Acquires a persistent mutex by consuming its durable queue exclusively. The queue is inspected
 * before, because a consume from a missing queue, or from one in use, would close the channel.
 * After a notification that the mutex is free, the inspection is left out, so that a hand-over
 * takes one round trip.
 *
 * @param queue the mutex's queue
 * @param leases creates the lease
 */
public record PersistentMutexClaim(String queue, LeaseFactory leases) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    OptionalInt consumers = HoldingConsumers.of(session).count(call, queue);
    if (consumers.isEmpty()) {
      throw new LockException.NotFound(
          "The %s is not enabled; enable it with admin().persistentMutex(\"%s\").enable()"
              .formatted(call.lock(), call.lock().name()));
    }
    return consumers.getAsInt() > 0 ? Optional.empty() : take(call, session);
  }

  @Override
  public Optional<HeldLease> attemptWhenTold(Call call, Session session) {
    try {
      return take(call, session);
    } catch (LockException.Unexpected e) {
      if (BrokerErrors.isQueueUnavailable(e)) {
        // Freed because it is being disabled: that shows when the queue is looked for.
        return attempt(call, session);
      }
      throw e;
    }
  }

  private Optional<HeldLease> take(Call call, Session session) {
    return leases.take(call, session, ConsumerHold.exclusive(call.lock(), queue));
  }
}
