package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A slot that this process holds at the broker. One lease after the other may use it without
 * another request to the broker: the slot is handed over. It is handed over for a limited time
 * only. Then it goes back to the broker, so that waiters in other processes get their turn.
 *
 * <p>Fencing: the token of a lease is the one that was drawn at the broker, with the number of
 * hand-overs behind it. So it rises from lease to lease. The next draw at the broker gives a higher
 * token than all of these, because the draw is compared first. This holds even if the broker gave
 * the slot to another client before a hand-over that this process made in good faith: that client
 * drew a higher token, and a resource refuses ours from then on.
 *
 * <p>Concurrency: at any time one lease owns the slot. It changes owners under the lock of a wait
 * queue. The broker's notification that the slot is gone may arrive at any time. The thread that
 * receives it sets a flag and then notifies the present lease. The thread that takes over sets the
 * present lease and then reads the flag. So the notification reaches at least one of the two.
 */
public final class BrokerGrant {

  /** How long after it was acquired at the broker a slot may be handed over within this process. */
  static final Duration LONGEST = Duration.ofMillis(100);

  /** How many times a slot may be handed over. */
  static final int MOST = Math.min(10_000, FencingToken.MAX_HAND_OVERS);

  private final Hold hold;
  private final Session session;
  private final LeaseRegistry registry;
  private final CoalescedVerification verification = new CoalescedVerification();
  private final long since;
  private int handOvers;
  private long provenAt;
  private volatile @Nullable HeldLease present;
  private volatile boolean revoked;

  BrokerGrant(Hold hold, Session session, LeaseRegistry registry) {
    this.hold = hold;
    this.session = session;
    this.registry = registry;
    since = registry.nanos();
  }

  Hold hold() {
    return hold;
  }

  Session session() {
    return session;
  }

  LeaseRegistry registry() {
    return registry;
  }

  /**
   * Asks the broker for the status of the slot, or waits for another lease or thread that is
   * asking.
   */
  CoalescedVerification.Outcome check() {
    return check(registry.call(lock()));
  }

  /** As {@link #check()}, within that call. */
  CoalescedVerification.Outcome check(Call call) {
    return verification.ask(call, () -> hold.status(call, session));
  }

  /**
   * Creates a lease of the slot and makes it the present one.
   *
   * @param proven when the last good verification of the slot was sent
   */
  HeldLease lease(long proven) {
    HeldLease lease = new HeldLease(this, handOvers, proven);
    present = lease;
    return lease;
  }

  /**
   * Called when the broker reports that the slot is gone, or belongs to another client. Does not
   * block.
   */
  void revoked() {
    revoked = true;
    HeldLease told = present;
    if (told != null) {
      told.revoked();
    }
  }

  /** As {@link #revoked()}, for a reason that the hold does not know. */
  void lost(LossReason reason) {
    revoked = true;
    HeldLease told = present;
    if (told != null) {
      boolean unused = told.lose(reason);
    }
  }

  /**
   * Offers the slot to the next waiter of this process.
   *
   * @param proven when the last good verification of the slot was sent
   * @return false if nobody waits, or if it is the turn of other processes; the slot must then go
   *     back to the broker
   */
  boolean handOver(long proven) {
    if (handOvers >= MOST || registry.nanos() - since >= LONGEST.toNanos()) {
      return false;
    }
    provenAt = proven;
    handOvers++;
    return registry.offer(this);
  }

  /**
   * Whether a waiter of this process, which wants a fenced lease or not, may take the slot over.
   */
  public boolean mayBeHandedTo(boolean fenced) {
    return hold.mayBeHandedTo(fenced);
  }

  /** The lock that the slot belongs to. */
  public LockId lock() {
    return hold.lock();
  }

  /**
   * Creates the next lease of the slot. Empty if the slot was lost in the meantime, or is under
   * way, or has moved: a verification that began for the last lease may go on.
   *
   * @param fenced whether the lease is to be fenced
   */
  public Optional<HeldLease> takeOver(boolean fenced) {
    HeldLease lease = lease(provenAt);
    lease.begin();
    if (revoked) {
      lease.revoked();
    }
    // In this order: another token that has come since is seen by the state.
    boolean isHere = !hold.isUnderWay();
    if (lease.acquired() == LeaseState.HELD && isHere && hold.mayBeHandedTo(fenced)) {
      return Optional.of(lease);
    }
    lease.withdraw();
    return Optional.empty();
  }

  /** Gives the slot back to the broker, which takes as long as a release. Never throws. */
  public void giveBack() {
    giveBack(registry.call(lock()));
  }

  /** As {@link #giveBack()}, within that call. */
  void giveBack(Call call) {
    hold.release(call, session);
    session.leaseEnded();
    registry.freed(lock(), session.shared());
  }

  /**
   * Gives the slot back to the broker in the background. The broker is to confirm that the slot is
   * not ours before anybody in this process may acquire it again.
   */
  void giveBackLater() {
    if (session.isOpen()) {
      registry.inBackground(this::giveBack);
    } else {
      registry.freed(lock(), session.shared());
    }
  }
}
