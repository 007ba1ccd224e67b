package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A slot had at the broker, whoever in this process has the lease of it: one after the other may, without
 * the broker's being asked. It is handed over for a while only, then it goes back to the broker so that
 * waiters elsewhere get their turn.
 *
 * <p>Concurrency: who has the lease has the slot alone; it changes hands through the lock of a line of
 * waiters. The broker's word that the slot is gone may come at any time: whoever hears it sets a flag and
 * then tells the present lease, whoever takes over sets the present lease and then looks at the flag, so
 * the word reaches one of the two at least.
 */
public final class HeldSlot {

  /** For how long after it was had at the broker a slot may be handed over here. */
  static final Duration LONGEST = Duration.ofMillis(100);

  /** How often it may be. */
  static final int MOST = 10_000;

  private final Holding holding;
  private final Session session;
  private final LeaseBook book;
  private final Checks checks = new Checks();
  private final long since;
  private int handOvers;
  private long provenAt;
  private volatile @Nullable HeldLease present;
  private volatile boolean revoked;

  HeldSlot(Holding holding, Session session, LeaseBook book) {
    this.holding = holding;
    this.session = session;
    this.book = book;
    since = book.nanos();
  }

  Holding holding() {
    return holding;
  }

  Session session() {
    return session;
  }

  LeaseBook book() {
    return book;
  }

  /** Asks the broker how it stands, or waits for another lease of it, or thread, that does. */
  Checks.Outcome check() {
    Call call = book.call(lock());
    return checks.ask(call, () -> holding.standing(call, session));
  }

  /** The first lease of it. */
  HeldLease lease(long proven) {
    HeldLease lease = new HeldLease(this, proven);
    present = lease;
    return lease;
  }

  /** The broker says that the slot is gone, or another's. Does not block. */
  void revoked() {
    revoked = true;
    HeldLease told = present;
    if (told != null) {
      told.revoked();
    }
  }

  /**
   * Offers the slot to the next one here who waits for it.
   *
   * @param proven when the last good verification of it was sent
   * @return false if there is nobody, or it is others' turn; it must then go back to the broker
   */
  boolean handOver(long proven) {
    if (!holding.mayBeHandedOver()
        || handOvers >= MOST
        || book.nanos() - since >= LONGEST.toNanos()) {
      return false;
    }
    provenAt = proven;
    handOvers++;
    return book.offer(this);
  }

  /** Which lock it is of. */
  public LockId lock() {
    return holding.lock();
  }

  /** Takes it over; empty if it was lost in between. */
  public Optional<HeldLease> takeOver() {
    HeldLease lease = lease(provenAt);
    lease.begin();
    if (revoked) {
      lease.revoked();
    }
    if (lease.acquired()) {
      return Optional.of(lease);
    }
    lease.withdraw();
    return Optional.empty();
  }

  /** Gives it back to the broker, which takes as long as a release. Never throws. */
  public void giveBack() {
    holding.release(book.call(lock()), session);
    book.freed(lock(), session);
  }

  /**
   * The same in the background: the broker shall say that the slot is not ours before anybody here may
   * take it anew.
   */
  void giveBackLater() {
    if (session.isOpen()) {
      book.inBackground(this::giveBack);
    } else {
      book.freed(lock(), session);
    }
  }
}
