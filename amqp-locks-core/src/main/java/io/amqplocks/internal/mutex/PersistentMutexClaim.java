package io.amqplocks.internal.mutex;

import io.amqplocks.internal.lease.ConsumerHolding;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The persistent mutex: whoever consumes its durable queue exclusively holds it. The queue is looked at
 * first, for a queue that is missing or in use would cost a consumer its channel; but not when its holder
 * just said that it is free, since a hand-over is to take one round trip.
 *
 * @param queue the mutex's queue
 * @param leases where the lease is entered
 */
public record PersistentMutexClaim(String queue, Taking leases) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    OptionalInt consumers = session.consumers().count(call, queue);
    if (consumers.isEmpty()) {
      throw new LockException.NotFound(
          "The %s is not enabled; enable it with admin().persistentMutex(\"%s\").enable()"
              .formatted(call.lock(), call.lock().name()));
    }
    return consumers.getAsInt() > 0 ? Optional.empty() : take(call, session);
  }

  @Override
  public Optional<HeldLease> attemptWhenTold(Call call, Session session) {
    return take(call, session);
  }

  private Optional<HeldLease> take(Call call, Session session) {
    return leases.take(call, session, new ConsumerHolding(call.lock(), 1, queue));
  }
}
