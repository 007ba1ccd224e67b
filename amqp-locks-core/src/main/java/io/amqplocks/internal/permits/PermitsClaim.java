package io.amqplocks.internal.permits;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires several slots of a semaphore as one lease, all or none (ADR 63). It is composed of
 * claims on one slot.
 *
 * <p>No two calls wait for each other. An attempt never waits: it takes what is free, and gives it
 * back at once if that is too little. A call that waits keeps what it has, and therefore waits in
 * turn: it collects only while it holds a mutex of its own, one call at a time over all processes.
 * Calls for one slot wait with empty hands. So of all who wait for slots, at most one has some.
 *
 * <p>The mutex decides who waits and not who holds. If two clients have it, as may happen while
 * nodes of a cluster lose each other, they may keep each other waiting until one of them hears that
 * it lost the mutex, or until their time is over. There are never more holders than slots.
 *
 * @param permits how many slots a lease has
 * @param slots acquires one slot
 * @param turns makes the claim on the mutex of the call that collects
 * @param count how many slots there are
 * @param leases creates the lease of several slots
 */
record PermitsClaim(
    int permits, Claim slots, Supplier<Claim> turns, SlotCount count, LeaseFactory leases)
    implements Claim {

  private static final Logger log = LoggerFactory.getLogger(PermitsClaim.class);

  /**
   * How often to look whether a slot is back that is being verified, and the pause in between. If
   * it takes longer, it is in doubt.
   */
  private static final int LOOKS = 50;

  private static final long PAUSE_NANOS = Duration.ofMillis(2).toNanos();

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    CollectedPermits collected = new CollectedPermits(permits, leases);
    try {
      while (!collected.isComplete()) {
        Optional<HeldLease> slot = slots.attempt(call, session);
        if (slot.isEmpty()) {
          break;
        }
        collected.add(slot.get(), () -> {});
      }
      if (collected.isComplete()) {
        return leaseOf(collected, call);
      }
    } finally {
      collected.giveBack(call);
    }
    requireEnoughSlots(call, session);
    return Optional.empty();
  }

  /** A slot that is being verified is back after a round trip. That is not "busy". */
  private static Optional<HeldLease> leaseOf(CollectedPermits collected, Call call) {
    Optional<HeldLease> lease = collected.lease(call);
    for (int i = 0; i < LOOKS && lease.isEmpty() && collected.isComplete(); i++) {
      Futures.pause(Math.min(PAUSE_NANOS, call.remainingNanos()));
      lease = collected.lease(call);
    }
    return lease;
  }

  /**
   * Leaves half of the time for the subscription, which collects in as many calls as it needs. That
   * a slot gives no answer is no reason not to wait for the others.
   */
  @Override
  public Optional<HeldLease> attemptBeforeWaiting(Call call, Session session) {
    try {
      return attempt(call.half(), session);
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      if (!session.isOpen()) {
        throw e;
      }
      log.debug("{} permits of {} are waited for: {}", permits, call.lock(), e.getMessage());
      return Optional.empty();
    }
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    Turn turn = new Turn(turns.get().subscribe(call, session, wake), wake);
    return new PermitsSubscription(call.lock(), this, session, turn, wake);
  }

  @Override
  public long courtesyNanos(Session session) {
    return slots.courtesyNanos(session);
  }

  /**
   * Refuses a call that no waiting would help. If the broker does not tell how many slots there
   * are, the call is not refused.
   */
  void requireEnoughSlots(Call call, Session session) {
    OptionalInt found;
    try {
      found = count.of(call, session);
    } catch (LockException.Unanswered | LockException.Unreachable | LockException.Unexpected e) {
      if (!session.isOpen()) {
        throw e;
      }
      log.debug("How many slots {} has cannot be told: {}", call.lock(), e.getMessage());
      return;
    }
    // A semaphore without slots does not exist, and is reported as such by the next attempt.
    if (found.isPresent() && found.getAsInt() > 0 && found.getAsInt() < permits) {
      throw tooMany(call.lock(), found.getAsInt());
    }
  }

  private LockException tooMany(LockId lock, int found) {
    String administrator =
        lock.kind() == LockKind.SLOT_SEMAPHORE ? "slotSemaphore" : "tokenSemaphore";
    return new LockException.Conflict(
        "A lease of %d permits of %s is not possible: it has %d slots; acquire %d at most, or resize it with"
                .formatted(permits, lock, found, found)
            + " admin().%s(\"%s\").resize(%d)".formatted(administrator, lock.name(), permits));
  }
}
