package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All leases of one {@code AmqpLocks} that have not ended, and how one comes about. */
public final class LeaseBook implements Taking {

  private static final Logger log = LoggerFactory.getLogger(LeaseBook.class);

  /** How many leases are asked for at once: so many that the broker, not the way to it, is the bound. */
  private static final int MOST_AT_ONCE = 8;

  private final Set<HeldLease> leases = ConcurrentHashMap.newKeySet();
  private final Duration callTimeout;
  private final Ticker ticker;
  private final Notices notices;
  private final Executor background;
  private final Waiters waiters;

  /**
   * An empty book.
   *
   * @param waiters who waits for slots
   */
  public LeaseBook(
      Duration callTimeout, Ticker ticker, Notices notices, Executor background, Waiters waiters) {
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.notices = notices;
    this.background = background;
    this.waiters = waiters;
  }

  /**
   * Takes what a lease consists of, in the one order that is safe: win it against all others; be told
   * when it goes; see that its slot is still there; only then is it held. Any doubt on the way undoes
   * all of it.
   *
   * @return empty if another holds it, or took it in between
   * @throws LockException if the broker did not answer, or something is broken
   */
  @Override
  public Optional<HeldLease> take(Call call, Session session, Holding holding) {
    HeldSlot slot = new HeldSlot(holding, session, this);
    HeldLease lease = slot.lease(ticker.nanos() - holding.proofAgeNanos(session));
    if (!holding.contend(call, session)) {
      return Optional.empty();
    }
    boolean held = false;
    try {
      held = secure(call, session, slot, lease);
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      // The caller has waited long enough for this broker.
      lease.withdrawLater();
      throw e;
    } finally {
      if (!held) {
        lease.withdraw();
      }
    }
    if (!held && !session.isOpen()) {
      throw new LockException.Unreachable("The session ended while acquiring " + call.lock(), null);
    }
    return held ? Optional.of(lease) : Optional.empty();
  }

  private boolean secure(Call call, Session session, HeldSlot slot, HeldLease lease) {
    Holding holding = slot.holding();
    lease.begin();
    // What was asked to win it is the proof; how old that is, the lease knows from its beginning.
    if (!holding.secure(call, session, slot::revoked)) {
      return false;
    }
    return lease.acquired();
  }

  /**
   * Verifies the leases of a session, many at a time. Stops when one gets no answer: the others would
   * get none either, and each says by the clock how certain it still is. Returns when none is left to
   * begin with; the last ones may still be asked for.
   */
  void verify(Session session) {
    Queue<HeldLease> left = new ConcurrentLinkedQueue<>(leases);
    left.removeIf(lease -> !lease.session().equals(session));
    Runnable worker = () -> verify(left, callTimeout);
    for (int i = 1; i < MOST_AT_ONCE && i < left.size(); i++) {
      background.execute(worker);
    }
    worker.run();
  }

  private static void verify(Queue<HeldLease> left, Duration patience) {
    for (HeldLease lease = left.poll(); lease != null; lease = left.poll()) {
      try {
        if (lease.state() != LeaseState.LOST && !lease.check()) {
          log.warn("{} could not be verified: RabbitMQ did not answer", lease);
          if (lease.session().silentNanos() >= patience.toNanos()) {
            left.clear();
          }
        }
      } catch (LockException e) {
        log.warn("{} could not be verified: {}", lease, e.getMessage());
      } catch (RuntimeException e) {
        // An exception would end all later verifications.
        log.error("{} could not be verified", lease, e);
      }
    }
  }

  /** Releases all leases, one by one while the bound allows; closing the session frees the rest. */
  public void releaseAll() {
    long end = ticker.nanos() + callTimeout.toNanos();
    for (HeldLease lease : leases) {
      if (end - ticker.nanos() > 0) {
        lease.close();
      } else {
        lease.leaveToSession();
      }
    }
  }

  /** Whether any lease is held. */
  public boolean holdsAny() {
    return leases.stream().anyMatch(HeldLease::isHeld);
  }

  /** The leases that are held, as they are now. */
  public List<LocalLease> views() {
    return leases.stream().filter(HeldLease::isHeld).map(HeldLease::view).toList();
  }

  /** Takes all leases of that lock from their holders; how many there were. */
  public int revoke(LockId lock, LossReason reason) {
    return (int)
        leases.stream()
            .filter(lease -> lease.lock().equals(lock) && lease.isHeld() && lease.lose(reason))
            .count();
  }

  void add(HeldLease lease) {
    leases.add(lease);
  }

  void remove(HeldLease lease) {
    leases.remove(lease);
  }

  void freed(LockId lock, Session session) {
    waiters.freed(lock, session);
  }

  boolean offer(HeldSlot slot) {
    return waiters.offer(slot);
  }

  void inBackground(Runnable task) {
    background.execute(task);
  }

  Call call(LockId lock) {
    return Call.on(lock, callTimeout, ticker);
  }

  long nanos() {
    return ticker.nanos();
  }

  Notices notices() {
    return notices;
  }
}
