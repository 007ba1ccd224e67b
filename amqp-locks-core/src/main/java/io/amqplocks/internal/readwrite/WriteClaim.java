package io.amqplocks.internal.readwrite;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.consuming.Access;
import io.amqplocks.internal.consuming.ConsumerHold;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import io.amqplocks.lock.LockId;
import java.util.Optional;

/**
 * Acquires a write lock by consuming the lock's queue exclusively (ADR 81). The queue's process
 * refuses that while there is any reader or writer.
 *
 * <p>A writer takes the gate first, a mutex, and keeps it until it has released the lock. Meanwhile
 * no reader begins, so a writer waits only for the readers that were there before it. Nothing
 * relies on the gate but this order.
 *
 * @param queue the lock's queue
 * @param gate the mutex of who is next
 * @param wakeQueue the queue by which readers notify the writer at the gate
 * @param leases creates the lease
 */
public record WriteClaim(String queue, MutexClaim gate, String wakeQueue, LeaseFactory leases)
    implements Claim {

  /** Looks at the readers first: a call that does not wait must not stop others at the gate. */
  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    if (ReadWriteQueues.of(session).holders(call, queue) > 0) {
      return Optional.empty();
    }
    Optional<HeldLease> passed = gate.attempt(call, session);
    if (passed.isEmpty()) {
      return Optional.empty();
    }
    Turn turn = new Turn(passed.get());
    try {
      return take(call, session, turn);
    } finally {
      turn.close(call);
    }
  }

  @Override
  public boolean isAcquiredBySubscribing(LockId lock) {
    return true;
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    return new WriteSubscription(
        this, session, new Turn(gate.subscribe(call, session, wake), wake), wake);
  }

  /** Acquires the lock in a turn that has come, if there are no readers. */
  Optional<HeldLease> takeIfUnread(Call call, Session session, Turn turn) {
    return ReadWriteQueues.of(session).holders(call, queue) > 0
        ? Optional.empty()
        : take(call, session, turn);
  }

  /**
   * The turn passes to the hold that is won, which gives it back after the lock. Without a turn
   * nothing is consumed: nobody would give the consumer back.
   */
  private Optional<HeldLease> take(Call call, Session session, Turn turn) {
    if (turn.isOver()) {
      return Optional.empty();
    }
    Hold.Contest contest =
        (same, own) ->
            ReadWriteQueues.of(own)
                .take(same, queue, Access.EXCLUSIVE)
                .map(consumer -> new ConsumerHold(same.lock(), consumer, turn.detachLease()));
    return leases.take(call, session, contest);
  }
}
