package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.lease.LeaseStatus.Phase;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver.Attempt;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease on a lock of any kind. Its counterpart at the broker is a {@link Hold}.
 *
 * <p>Concurrency: the whole state is one immutable {@link LeaseStatus} in an atomic reference.
 * Holder, verification, broker and session race to change it. Each change is a pure function that
 * is applied by compare-and-set. Only the thread whose change ended the lease carries out the
 * consequences. No lock is held during a request to the broker.
 */
// More than 300 lines: all changes of the one status are here, so that their races can be judged.
public final class HeldLease implements Lease, Session.Member {

  private static final Logger log = LoggerFactory.getLogger(HeldLease.class);

  private final BrokerGrant slot;
  private final int handOvers;
  private final Hold hold;
  private final Session session;
  private final LeaseRegistry registry;
  private final LeaseClock clock;
  private final AtomicReference<LeaseStatus> status;
  private final LeaseEvents notices;
  private volatile @Nullable Runnable lossCallback;
  private volatile @Nullable HoldLimit limit;

  /**
   * Creates a lease that is being acquired.
   *
   * @param handOvers how often the slot was handed over before, since the broker gave it
   * @param provenAt when the last good verification of the slot was sent
   */
  HeldLease(BrokerGrant slot, int handOvers, long provenAt) {
    this.slot = slot;
    this.handOvers = handOvers;
    hold = slot.hold();
    session = slot.session();
    registry = slot.registry();
    clock = new LeaseClock(session, registry);
    status = new AtomicReference<>(LeaseStatus.pending(provenAt));
    notices = new LeaseEvents(this, registry.notices());
  }

  @Override
  public LockId lock() {
    return hold.lock();
  }

  @Override
  public int slot() {
    return hold.slot();
  }

  @Override
  public int permits() {
    return hold.permits();
  }

  @Override
  public FencingToken fencingToken() {
    return fencingTokenIfAny()
        .orElseThrow(
            () ->
                new LockException.NotFenced(
                    "The lease of slot %d of %s has no fencing token; acquire it by lock.fenced()"
                        .formatted(slot(), lock())));
  }

  @Override
  public Optional<FencingToken> fencingTokenIfAny() {
    return hold.tokenIfAny().map(drawn -> drawn.afterHandOvers(handOvers));
  }

  @Override
  public List<FencingToken> fencingTokens() {
    return hold.tokens().stream().map(drawn -> drawn.afterHandOvers(handOvers)).toList();
  }

  @Override
  public LeaseState state() {
    LeaseStatus now = status.get();
    return switch (now.phase()) {
      case LOST -> LeaseState.LOST;
      case RELEASED -> LeaseState.RELEASED;
      case PENDING, HELD -> stateByClock(now);
    };
  }

  private LeaseState stateByClock(LeaseStatus now) {
    if (loseAtLimit()) {
      return finalState();
    }
    LossReason over = session.endReason();
    if (over != null) {
      // The session's end is known, and its members may just be being told.
      lose(over);
      return finalState();
    }
    LeaseState state = clock.state(now);
    if (state != LeaseState.LOST) {
      return hold.isInDoubt() ? LeaseState.UNCERTAIN : state;
    }
    // The broker may or may not have dropped the connection. Ending the session makes it do so, and
    // the slots are free.
    session.end(clock.expiry());
    return finalState();
  }

  private LeaseState finalState() {
    return status.get().phase() == Phase.RELEASED ? LeaseState.RELEASED : LeaseState.LOST;
  }

  @Override
  public LeaseState verify() {
    if (!status.get().phase().isFinal()) {
      try {
        check();
      } catch (LockException e) {
        log.warn("{} could not be verified: {}", this, e.getMessage());
      }
    }
    return state();
  }

  /**
   * Asks the broker for the status of the hold, and acts on the answer. Returns false if the broker
   * did not reply.
   */
  boolean check() {
    return check(registry.call(lock())) != HoldStatus.UNKNOWN;
  }

  /** As {@link #check()}, within that call. Returns the answer. */
  HoldStatus check(Call call) {
    CoalescedVerification.Outcome outcome = slot.check(call);
    switch (outcome.status()) {
      case OURS -> verifiedAt(outcome.sentAt());
      // Also for a lease that has taken the slot over meanwhile.
      case GONE -> slot.revoked();
      case SLOT_REMOVED ->
          slot.lost(new LossReason(Cause.SLOT_REMOVED, "slot " + slot() + " was removed"));
      case UNKNOWN -> {
        log.debug("{} was not verified", this);
        hold.oldestProof().ifPresent(this::verifiedAt);
      }
    }
    return outcome.status();
  }

  /**
   * Records that the broker confirmed the hold, in reply to a request that was sent at that time.
   */
  void verifiedAt(long sentAt) {
    status.updateAndGet(was -> was.verified(sentAt));
  }

  /**
   * Called when the broker reports that the hold is gone, or belongs to another client. Does not
   * block.
   */
  void revoked() {
    lose(hold.loss());
  }

  /** Registers the lease with its session: from now on it ends when the session ends. */
  void begin() {
    registry.add(this);
    session.join(this);
    if (status.get().phase().isFinal()) {
      // It was revoked before it was there to be removed.
      session.leave(this);
      registry.remove(this);
    }
  }

  /** Performs the last step of an acquisition. The lease is not HELD if it was lost before that. */
  LeaseState acquired() {
    status.updateAndGet(LeaseStatus::acquired);
    return state();
  }

  /**
   * Limits how long the lease may be held. It is then lost. To be called before the user's code has
   * the lease.
   *
   * @param timer ends it on time; its threads are not held up
   */
  public void holdAtMost(Duration time, ScheduledExecutorService timer) {
    HoldLimit set = new HoldLimit(time, clock);
    limit = set;
    set.set(timer, () -> lose(set.loss()));
    if (status.get().phase().isFinal()) {
      set.cancel();
    }
  }

  private boolean isAtLimit() {
    HoldLimit set = limit;
    return set != null && set.isReached();
  }

  /** Ends the lease if it is at its limit. Returns whether it was. */
  private boolean loseAtLimit() {
    HoldLimit set = limit;
    if (set == null || !set.isReached()) {
      return false;
    }
    lose(set.loss());
    return true;
  }

  /**
   * Announces the lease to the user's code. From then on the user's code is also notified of its
   * end.
   */
  public void announce(Duration waited, Attempt attempt) {
    notices.acquired(waited, attempt);
  }

  /**
   * Sets what is called when the lease is lost, or calls it now if it is lost already. It is called
   * on any thread, possibly twice, and must not block. It replaces the last one.
   */
  public void onLoss(Runnable callback) {
    // The flag is written before the callback is read there, and read after it is written here.
    lossCallback = callback;
    if (status.get().phase() == Phase.LOST) {
      callback.run();
    }
  }

  /** Excludes the lease from periodic verification, because another lease verifies it. */
  void verifiedByAnother() {
    registry.remove(this);
  }

  /** Gives up an acquisition that is not complete. The user's code was never notified of it. */
  void withdraw() {
    withdraw(registry.call(lock()));
  }

  /** As {@link #withdraw()}, within that call. */
  void withdraw(Call call) {
    if (!leave(LeaseStatus::released)) {
      return;
    }
    if (session.isOpen()) {
      slot.giveBack(call);
    } else {
      freedByItsSession();
    }
  }

  /** Gives up an acquisition that is not complete, without waiting for the broker. */
  void withdrawLater() {
    if (leave(LeaseStatus::released)) {
      slot.giveBackLater();
    }
  }

  /**
   * Ends the lease as released. The slot becomes free with the connection, which is about to be
   * closed.
   */
  void leaveToSession() {
    if (leave(LeaseStatus::released)) {
      notices.released();
    }
  }

  @Override
  public void close() {
    if (loseAtLimit()) {
      return;
    }
    LeaseStatus last = end(LeaseStatus::released);
    if (last.phase().isFinal()) {
      return;
    }
    notices.released();
    boolean sure = clock.isHeld(last) && !hold.isInDoubt() && !hold.isUnderWay();
    if (!session.isOpen()) {
      freedByItsSession();
    } else if (!(sure && slot.handOver(last.verifiedAt()))) {
      slot.giveBack();
    }
  }

  /** Waiters are not notified by the end of a session that is for this lease alone. */
  private void freedByItsSession() {
    if (session.shared().isOpen()) {
      slot.giveBackLater();
    }
  }

  @Override
  public void sessionEnded(LossReason reason) {
    lose(reason);
  }

  @Override
  public boolean isOf(LockId lock) {
    return hold.lock().equals(lock);
  }

  @Override
  public List<String> leases() {
    return isHeld() && !registry.isSilent() ? List.of(name()) : List.of();
  }

  /**
   * Takes the lease from its holder, notifies the holder, and gives the slot back to the broker.
   * Returns false if the lease had already ended.
   */
  boolean lose(LossReason reason) {
    if (!leave(was -> was.lost(reason))) {
      return false;
    }
    try {
      notices.lost(reason);
      Runnable callback = lossCallback;
      if (callback != null) {
        callback.run();
      }
    } finally {
      // Last, since the holder is to know of the loss even if this fails.
      slot.giveBackLater();
    }
    return true;
  }

  private boolean leave(UnaryOperator<LeaseStatus> end) {
    return !end(end).phase().isFinal();
  }

  /**
   * Ends the lease. Returns its status before that, which is final if the lease had already ended.
   */
  private LeaseStatus end(UnaryOperator<LeaseStatus> end) {
    LeaseStatus last = status.getAndUpdate(end);
    if (!last.phase().isFinal()) {
      clock.end();
      session.leave(this);
      registry.remove(this);
      HoldLimit set = limit;
      if (set != null) {
        set.cancel();
      }
    }
    return last;
  }

  /** A snapshot of the lease for monitoring. Never ends anything. */
  LeaseSnapshot view() {
    LeaseStatus now = status.get();
    return new LeaseSnapshot(
        lock(),
        hold.slots(),
        // The phase is not used: the lease may have been released since it was found.
        clock.state(now) == LeaseState.HELD && !hold.isInDoubt() && !isAtLimit()
            ? LeaseState.HELD
            : LeaseState.UNCERTAIN,
        age(),
        clock.unconfirmed(now),
        fencingTokenIfAny(),
        hold.queueName());
  }

  /** The session whose connection holds the lease. */
  public Session session() {
    return session;
  }

  Hold hold() {
    return hold;
  }

  /** When the last good verification was sent. */
  long verifiedAt() {
    return status.get().verifiedAt();
  }

  /** Whether the lease is held, and not only being acquired. */
  boolean isHeld() {
    return status.get().phase() == Phase.HELD;
  }

  @Override
  public Optional<LossReason> lossReason() {
    return Optional.ofNullable(status.get().loss());
  }

  @Override
  public CompletionStage<LossReason> whenLost() {
    return notices.whenLost();
  }

  @Override
  public Duration age() {
    return clock.age();
  }

  /** Does not use {@link #state()}, because a log line must not end anything. */
  @Override
  public String toString() {
    return "lease of " + name() + " (" + status.get().phase() + ")";
  }

  private String name() {
    String what = permits() == 1 ? "slot " + slot() : permits() + " permits";
    return what + " of " + lock();
  }
}
