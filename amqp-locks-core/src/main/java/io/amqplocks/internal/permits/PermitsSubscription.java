package io.amqplocks.internal.permits;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Waiting for several slots: first for the turn to collect, and then for one slot after the other.
 * What was collected is kept, so each slot that becomes free brings the call closer to its end,
 * whatever others want. It is used up by the first lease.
 *
 * <p>A turn that is lost ends the collecting, and what was collected goes back: somebody else may
 * collect by now, and two would keep each other waiting. A slot that is lost is collected again.
 * All others are kept, also while the broker does not answer, and while one of them is UNCERTAIN.
 *
 * <p>Concurrency: for one thread at a time. A loss is noticed on other threads, and only wakes the
 * waiter.
 */
final class PermitsSubscription implements Subscription {

  /** How often to ask whether there are enough slots at all: an administrator may remove some. */
  private static final long COUNT_EVERY = Duration.ofSeconds(5).toNanos();

  /**
   * The pause of a waiter that can be told nothing: the broker ended its consumer or did not
   * answer, or it has all slots and one of them is UNCERTAIN or being verified.
   */
  private static final long UNTOLD = Duration.ofMillis(100).toNanos();

  private final LockId lock;
  private final PermitsClaim claim;
  private final Session session;
  private final Runnable wake;
  private final CollectedPermits collected;
  private final long begunAt;
  private final Turn turn;
  private @Nullable Subscription slots;
  private @Nullable LockException failure;
  private long counts;
  private boolean used;

  /**
   * Creates the subscription.
   *
   * @param turn waits for the turn
   */
  PermitsSubscription(LockId lock, PermitsClaim claim, Session session, Turn turn, Runnable wake) {
    this.lock = lock;
    this.claim = claim;
    this.session = session;
    this.turn = turn;
    this.wake = wake;
    collected = new CollectedPermits(claim.permits(), claim.leases());
    begunAt = session.ticker().nanos();
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    failure = null;
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for %d permits of %s".formatted(claim.permits(), lock),
          null);
    }
    if (!turn.attempt(call)) {
      countNowAndThen(call);
      return Optional.empty();
    }
    collected.dropLost();
    while (!collected.isComplete()) {
      if (call.remainingNanos() < call.bound().toNanos() / 2) {
        // Many slots may take longer than one call. What there is already is kept.
        wake.run();
        return Optional.empty();
      }
      Optional<HeldLease> slot = nextSlot(call);
      if (slot.isEmpty()) {
        countNowAndThen(call);
        return Optional.empty();
      }
      collected.add(slot.get(), wake);
    }
    Optional<HeldLease> lease = collected.lease(call);
    used = lease.isPresent();
    return lease;
  }

  /**
   * One more slot. That the broker does not say whether there is one costs nothing collected, and
   * neither does the break of a connection that holds nothing.
   */
  private Optional<HeldLease> nextSlot(Call call) {
    try {
      return nextSlotIfAnswered(call);
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      if (!session.isOpen()) {
        throw e;
      }
      failure = e;
      closeSlots();
      return Optional.empty();
    }
  }

  private Optional<HeldLease> nextSlotIfAnswered(Call call) {
    Subscription waiting = slots;
    if (waiting == null) {
      Optional<HeldLease> free = claim.slots().attempt(call, session);
      if (free.isPresent()) {
        return free;
      }
      waiting = claim.slots().subscribe(call, session, wake);
      slots = waiting;
    }
    Optional<HeldLease> slot = waiting.attempt(call);
    failure = slot.isPresent() ? null : waiting.failure().orElse(null);
    if (waiting.isOver()) {
      closeSlots();
    }
    return slot;
  }

  private void closeSlots() {
    Subscription waiting = slots;
    slots = null;
    if (waiting != null) {
      waiting.close();
    }
  }

  /** Not at first: the attempt that came before this subscription has asked, if it had the time. */
  private void countNowAndThen(Call call) {
    long periods = (call.ticker().nanos() - begunAt) / COUNT_EVERY;
    if (periods > counts) {
      counts = periods;
      claim.requireEnoughSlots(call, session);
    }
  }

  @Override
  public Optional<LockException> failure() {
    return Optional.ofNullable(failure);
  }

  @Override
  public boolean isOver() {
    return used || turn.isOver();
  }

  @Override
  public long pauseNanos() {
    Subscription waiting = slots;
    long told =
        turn.pauseNanos()
            .orElseGet(
                () -> waiting == null || collected.isComplete() ? UNTOLD : waiting.pauseNanos());
    return Math.min(COUNT_EVERY, told);
  }

  @Override
  public void close() {
    closeSlots();
    collected.giveBack(Call.on(lock, session.callTimeout(), session.ticker()));
    // After the slots: whoever collects next is to find them free.
    turn.close();
  }
}
