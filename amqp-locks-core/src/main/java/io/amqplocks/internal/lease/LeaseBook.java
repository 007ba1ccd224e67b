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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All leases of one {@code AmqpLocks} that have not ended, and how one comes about.
 *
 * <p>Concurrency: two concurrent sets. A lease is in the second one from the moment that a pass has it asked
 * for to the end of that, so however long its answer takes, no second question waits for it.
 */
public final class LeaseBook implements Taking {

  private static final Logger log = LoggerFactory.getLogger(LeaseBook.class);

  private final Set<HeldLease> leases = ConcurrentHashMap.newKeySet();
  private final Set<HeldLease> underWay = ConcurrentHashMap.newKeySet();
  private final Duration callTimeout;
  private final Ticker ticker;
  private final Notices notices;
  private final Executor background;
  private final Executor verifying;
  private final Waiters waiters;

  /** An empty book that does all of its work on one executor. */
  public LeaseBook(
      Duration callTimeout, Ticker ticker, Notices notices, Executor background, Waiters waiters) {
    this(callTimeout, ticker, notices, background, background, waiters);
  }

  /**
   * An empty book.
   *
   * @param background gives back what nobody waits for
   * @param verifying asks for leases; it must have a thread for one even while many others wait for an answer
   * @param waiters who waits for slots
   */
  public LeaseBook(
      Duration callTimeout,
      Ticker ticker,
      Notices notices,
      Executor background,
      Executor verifying,
      Waiters waiters) {
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.notices = notices;
    this.background = background;
    this.verifying = verifying;
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
   * Verifies the leases of a session, many at a time, and waits for none of them: one whose answer is
   * overdue must not keep the others from theirs. A lease of the last pass that is still asked for is left
   * out. If the broker answers nothing at all any more, the rest of the pass is: each says by the clock how
   * certain it still is.
   *
   * @return completed at the end of the pass
   */
  CompletableFuture<Void> verify(Session session) {
    List<HeldLease> asked =
        leases.stream()
            .filter(lease -> lease.session().equals(session) && underWay.add(lease))
            .toList();
    Pass pass = new Pass(asked.size());
    asked.forEach(lease -> verifying.execute(() -> pass.verify(lease)));
    return pass.over;
  }

  /** Concurrency: whoever ends the last of its leases completes it. */
  private final class Pass {
    final CompletableFuture<Void> over = new CompletableFuture<>();
    private final AtomicInteger left;
    private volatile boolean silent;

    Pass(int leases) {
      left = new AtomicInteger(leases);
      if (leases == 0) {
        over.complete(null);
      }
    }

    void verify(HeldLease lease) {
      try {
        if (!silent && lease.state() != LeaseState.LOST && !lease.check()) {
          log.warn("{} could not be verified: RabbitMQ did not answer", lease);
          silent = lease.session().silentNanos() >= callTimeout.toNanos();
        }
      } catch (LockException e) {
        log.warn("{} could not be verified: {}", lease, e.getMessage());
      } catch (RuntimeException e) {
        // An exception would end all later verifications.
        log.error("{} could not be verified", lease, e);
      } finally {
        underWay.remove(lease);
        if (left.decrementAndGet() == 0) {
          over.complete(null);
        }
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

  /** Whether any lease is there, or being acquired, by that session. */
  boolean holdsAny(Session session) {
    return leases.stream().anyMatch(lease -> lease.session().equals(session));
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
