package io.amqplocks.internal.slots;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.QueueHolding;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * Acquiring a slot of a persistent semaphore as seed 001 has it, corrected: look for slots that exist
 * and are not held; take one of them, by an order that makes contenders spread; if others were faster,
 * look again, so many times and no more. Only a certain "absent" of B makes a slot free, and only a
 * certain "absent" of A ends the slots.
 *
 * @param slots the semaphore's slots
 * @param choice which free slot to try first
 * @param leases where the lease is entered
 */
public record SlotClaim(Slots slots, SlotChoice choice, Taking leases) implements Claim {

  /** How often to look again after all slots that seemed free were lost to others. */
  private static final int LOST_RACES = 3;

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    Optional<HeldLease> guessed = guess(call, session);
    if (guessed.isPresent()) {
      return guessed;
    }
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
    }
    return Optional.empty();
  }

  /**
   * Tries the slot that was ours last, without looking: that it exists is seen when it is secured, and
   * that nobody holds it when it is won. Whether slots before it have gone, so that it does not count, is
   * looked at once a second. A guess that was wrong is not repeated until a slot was found by
   * looking, so it costs a contender one refusal for each slot that it gets.
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
      // Its queue's node may be down; there may be others.
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
        new QueueHolding(call.lock(), slot, slots.holderQueue(slot), slots.slotQueue(slot)));
  }

  private Optional<HeldLease> takeOneOf(
      Call call, Session session, List<Integer> free, long lookedAt) {
    List<Integer> order = choice.of(call.lock().name(), free);
    // Two tries: when both are lost, others are at work here and the list is old.
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
              + " it with admin().semaphore(\"%s\").create(slots)".formatted(call.lock().name()));
    }
    if (scan.count() == 0) {
      throw new LockException.NotFound(
          "There is no %s at the broker; create it with admin().semaphore(\"%s\").create(slots)"
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
