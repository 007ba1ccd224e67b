package io.amqplocks.internal.slots;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.exclusive.ExclusiveQueues;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * Acquires a slot of a slot semaphore by the semaphore guideline, corrected. It looks for slots
 * that exist and are not held, and tries to acquire one of them, in an order that spreads
 * contenders. If others were faster, it looks again, a limited number of times. Only a certain
 * "absent" of B makes a slot free, and only a certain "absent" of A ends the slots.
 *
 * @param slots the semaphore's slots
 * @param choice which free slot to try first
 * @param leases creates the lease
 */
public record SlotClaim(Slots slots, SlotChoice choice, LeaseFactory leases) implements Claim {

  /** How many scans to make while all slots that seemed free are lost to others. */
  private static final int LOST_RACES = 3;

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    Optional<HeldLease> guessed = guess(call, session);
    if (guessed.isPresent()) {
      return guessed;
    }
    List<Integer> lost = List.of();
    for (int i = 0; i < LOST_RACES; i++) {
      long lookedAt = call.ticker().nanos();
      SlotScan scan = slots.scanAgain(call, session.prober());
      if (scan.free().isEmpty()) {
        requireCertain(call, session, scan);
        return Optional.empty();
      }
      Optional<HeldLease> lease = takeOneOf(call, session, scan.free(), lookedAt);
      if (lease.isPresent()) {
        return lease;
      }
      lost = scan.free();
    }
    // Another thread's request that is on its way does not make a slot busy.
    lost.forEach(slot -> ExclusiveQueues.of(session).requireReply(call, slots.holderQueue(slot)));
    return Optional.empty();
  }

  /**
   * Tries the slot that this process held last, without a scan. Securing it shows whether it
   * exists, and winning it shows that nobody holds it. If slots before it were removed, it does not
   * count. A scan once a second detects that. After a wrong guess there is no other one until a
   * scan has found a slot. So a contender pays one refusal for each slot that it acquires.
   */
  private Optional<HeldLease> guess(Call call, Session session) {
    LockName semaphore = call.lock().name();
    OptionalInt slot = choice.guess(semaphore, call.ticker().nanos());
    if (slot.isEmpty()) {
      return Optional.empty();
    }
    boolean taken = false;
    try {
      Optional<HeldLease> lease = take(call, session, slot.getAsInt());
      taken = lease.isPresent();
      return lease;
    } catch (LockException.Unexpected e) {
      // The node of this slot's queue may be down. Other slots may be free.
      return Optional.empty();
    } finally {
      if (!taken) {
        choice.doubt(semaphore);
      }
    }
  }

  private Optional<HeldLease> take(Call call, Session session, int slot) {
    return leases.take(
        call,
        session,
        ExclusiveQueueHold.contest(
            call.lock(), slot, slots.holderQueue(slot), slots.slotQueue(slot)));
  }

  private Optional<HeldLease> takeOneOf(
      Call call, Session session, List<Integer> free, long lookedAt) {
    List<Integer> order = choice.of(call.lock().name(), free);
    // If two tries are lost, other clients acquire here too, and the list is outdated.
    for (int slot : order.subList(0, Math.min(2, order.size()))) {
      Optional<HeldLease> lease = take(call, session, slot);
      if (lease.isPresent()) {
        choice.took(call.lock().name(), slot, lookedAt);
        return lease;
      }
    }
    return Optional.empty();
  }

  private static void requireCertain(Call call, Session session, SlotScan scan) {
    if (scan.count() == 0 && !scan.above().isEmpty()) {
      throw new LockException.NotFound(
          "There is no slot 1 of %s at the broker, and so slots %s do not count: a change was interrupted, or"
                  .formatted(call.lock(), scan.above())
              + " the first ones were declared by others as not durable and the broker was restarted; create"
              + " it with admin().slotSemaphore(\"%s\").create(slots)"
                  .formatted(call.lock().name()));
    }
    if (scan.count() == 0) {
      throw new LockException.NotFound(
          "There is no %s at the broker; create it with admin().slotSemaphore(\"%s\").create(slots)"
              .formatted(call.lock(), call.lock().name()));
    }
    if (scan.unknown() > 0) {
      CompletableFuture<String> blocked = session.prober().blocked();
      throw new LockException.Unanswered(
          "No free slot of %s found, but %d of the %d places looked at gave no certain answer: %s"
              .formatted(
                  call.lock(),
                  scan.unknown(),
                  scan.count(),
                  blocked.isDone()
                      ? "RabbitMQ blocks publishers because of an alarm, " + blocked.join()
                      : "a node of the broker may be down, or it did not answer within "
                          + call.bound().toMillis()
                          + " ms (the call timeout)"));
    }
  }
}
