package io.amqplocks.internal.lease;

import io.amqplocks.internal.lease.LeaseStatus.Phase;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver.Attempt;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease, whatever it is held by.
 *
 * <p>Concurrency: all there is to know is one immutable {@link LeaseStatus} in an atomic reference.
 * Holder, verification, broker and session race to change it; each change is a pure function applied
 * by compare-and-set, and only the thread whose change took the lease out of HELD carries out what
 * follows from that. Nothing is locked while the broker is asked.
 */
public final class HeldLease implements Lease, Session.Member {

  private static final Logger log = LoggerFactory.getLogger(HeldLease.class);

  private final HeldSlot slot;
  private final Holding holding;
  private final Session session;
  private final LeaseBook book;
  private final LeaseClock clock;
  private final AtomicReference<LeaseStatus> status;
  private final LeaseNotices notices;

  HeldLease(HeldSlot slot, long provenAt) {
    this.slot = slot;
    holding = slot.holding();
    session = slot.session();
    book = slot.book();
    clock = new LeaseClock(session, book);
    status = new AtomicReference<>(LeaseStatus.pending(provenAt));
    notices = new LeaseNotices(this, book.notices());
  }

  @Override
  public LockId lock() {
    return holding.lock();
  }

  @Override
  public int slot() {
    return holding.slot();
  }

  @Override
  public FencingToken fencingToken() {
    return holding.token();
  }

  @Override
  public Optional<FencingToken> fencingTokenIfAny() {
    return holding.tokenIfAny();
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
    LeaseState state = clock.state(now);
    if (state != LeaseState.LOST) {
      return state;
    }
    // It may or may not have dropped the connection: now it will, and the slots are free.
    session.end(clock.expiry());
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

  /** Asks the broker how the holding stands, and acts on it; false if it did not answer. */
  boolean check() {
    Checks.Outcome outcome = slot.check();
    switch (outcome.standing()) {
      case OURS -> verifiedAt(outcome.sentAt());
      case GONE -> revoked();
      case SLOT_REMOVED ->
          lose(new LossReason(Cause.SLOT_REMOVED, "slot " + slot() + " was removed"));
      case UNKNOWN -> {
        return false;
      }
    }
    return true;
  }

  /** The broker confirmed that the holding is ours, in answer to what was sent then. */
  void verifiedAt(long sentAt) {
    status.updateAndGet(was -> was.verified(sentAt));
  }

  /** The broker says that the holding is gone, or another's. Does not block. */
  void revoked() {
    lose(holding.loss());
  }

  /** From now on this lease ends with its session. */
  void begin() {
    book.add(this);
    session.join(this);
  }

  /** The last step of an acquisition; false if the lease was lost before it was had. */
  boolean acquired() {
    status.updateAndGet(LeaseStatus::acquired);
    return state() == LeaseState.HELD;
  }

  /** The user's code may hear of the lease, and from then on of its end. */
  public void announce(Duration waited, Attempt attempt) {
    notices.acquired(waited, attempt);
  }

  /** Gives up an acquisition half-way; the user's code never heard of it. */
  void withdraw() {
    if (leave(LeaseStatus::released) && session.isOpen()) {
      slot.giveBack();
    }
  }

  /** The same, without waiting for the broker. */
  void withdrawLater() {
    if (leave(LeaseStatus::released)) {
      slot.giveBackLater();
    }
  }

  /** Ends as released with the connection that is about to be closed. */
  void leaveToSession() {
    if (leave(LeaseStatus::released)) {
      notices.released();
    }
  }

  @Override
  public void close() {
    LeaseStatus last = end(LeaseStatus::released);
    if (last.phase().isFinal()) {
      return;
    }
    notices.released();
    if (session.isOpen() && !(clock.isHeld(last) && slot.handOver(last.verifiedAt()))) {
      slot.giveBack();
    }
  }

  @Override
  public void sessionEnded(LossReason reason) {
    lose(reason);
  }

  /** Takes it from its holder, who is told so, and back to the broker; false if it had ended. */
  boolean lose(LossReason reason) {
    if (!leave(was -> was.lost(reason))) {
      return false;
    }
    slot.giveBackLater();
    notices.lost(reason);
    return true;
  }

  private boolean leave(UnaryOperator<LeaseStatus> end) {
    return !end(end).phase().isFinal();
  }

  /** Ends the lease; what it was before, which is final if it had ended already. */
  private LeaseStatus end(UnaryOperator<LeaseStatus> end) {
    LeaseStatus last = status.getAndUpdate(end);
    if (!last.phase().isFinal()) {
      clock.end();
      session.leave(this);
      book.remove(this);
    }
    return last;
  }

  /** As it is now, for those who look on; ends nothing. */
  LocalLease view() {
    LeaseStatus now = status.get();
    return new LocalLease(
        lock(),
        slot(),
        // Not by its phase: it may have been released since somebody found it.
        clock.state(now) == LeaseState.HELD ? LeaseState.HELD : LeaseState.UNCERTAIN,
        age(),
        clock.unconfirmed(now),
        holding.tokenIfAny(),
        holding.trace());
  }

  /** Whose connection holds it. */
  Session session() {
    return session;
  }

  /** Whether the holder has it, and not only tries to. */
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

  /** Not by {@link #state()}: a log line must not end anything. */
  @Override
  public String toString() {
    return "lease of slot " + slot() + " of " + lock() + " (" + status.get().phase() + ")";
  }
}
