package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
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
 * All leases of one {@code AmqpLocks} that have not ended. It also creates them.
 *
 * <p>Concurrency: two concurrent sets. A lease is in the second set from the moment when a pass
 * schedules its verification until that verification ends. So no second request for it is queued,
 * however long the reply takes.
 */
public final class LeaseRegistry implements LeaseFactory {

  private static final Logger log = LoggerFactory.getLogger(LeaseRegistry.class);

  private final Set<HeldLease> leases = ConcurrentHashMap.newKeySet();
  private final Set<HeldLease> underWay = ConcurrentHashMap.newKeySet();
  private final Duration callTimeout;
  private final Ticker ticker;
  private final EventDispatcher notices;
  private final Executor background;
  private final Executor verifying;
  private final ReleaseListener releaseListener;

  /** Creates an empty registry that does all of its work on one executor. */
  public LeaseRegistry(
      Duration callTimeout,
      Ticker ticker,
      EventDispatcher notices,
      Executor background,
      ReleaseListener releaseListener) {
    this(callTimeout, ticker, notices, background, background, releaseListener);
  }

  /**
   * Creates an empty registry.
   *
   * @param background runs the releases that nobody waits for
   * @param verifying verifies leases; it must have a thread for one lease even while many others
   *     wait for a reply
   * @param releaseListener is notified of free slots
   */
  public LeaseRegistry(
      Duration callTimeout,
      Ticker ticker,
      EventDispatcher notices,
      Executor background,
      Executor verifying,
      ReleaseListener releaseListener) {
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.notices = notices;
    this.background = background;
    this.verifying = verifying;
    this.releaseListener = releaseListener;
  }

  /**
   * Acquires a lease in the only safe order. The hold is won against all other clients. Then it is
   * secured: the client subscribes to its revocation and checks that its slot still exists. Only
   * then is it held. Any doubt on the way undoes all of it.
   *
   * @return empty if another client holds the slot, or took it in the meantime
   * @throws LockException if the broker did not reply, or something is broken
   */
  @Override
  public Optional<HeldLease> take(Call call, Session session, Hold.Contest contest) {
    long sentAt = ticker.nanos();
    Optional<? extends Hold> won = contest.win(call, session);
    if (won.isEmpty()) {
      return Optional.empty();
    }
    Hold hold = won.get();
    BrokerGrant slot = new BrokerGrant(hold, session, this);
    HeldLease lease = slot.lease(sentAt - hold.proofAgeNanos(session));
    boolean held = false;
    boolean ended = false;
    try {
      held = secure(call, session, slot, lease);
      ended = !session.isOpen();
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      // The caller has waited long enough for this broker.
      lease.withdrawLater();
      throw e;
    } finally {
      if (!held) {
        lease.withdraw();
      }
    }
    // A session of the lease alone is closed by the withdrawal, and the shared one may break by
    // then.
    if (!held && (ended || !session.shared().isOpen())) {
      throw new LockException.Unreachable("The session ended while acquiring " + call.lock(), null);
    }
    return held ? Optional.of(lease) : Optional.empty();
  }

  private boolean secure(Call call, Session session, BrokerGrant slot, HeldLease lease) {
    Hold hold = slot.hold();
    lease.begin();
    // The request that won the hold is the proof. The lease knows its age from its creation.
    if (!hold.secure(call, session, slot::revoked)) {
      return false;
    }
    // A broker that ends a connection may send to one of its channels what another one of them
    // held a moment ago, and whose holder hears of that later (trap 19). It answers nothing any
    // more on such a connection.
    boolean maybeEnding = hold.isPushed() && session.hasLease(call.lock(), lease);
    if (maybeEnding || maybeSilent(session)) {
      session.hear(call);
    }
    LeaseState now = lease.acquired();
    if (now == LeaseState.UNCERTAIN) {
      // To say that others hold the lock would be wrong.
      throw new LockException.Unanswered(
          "The lease of %s was in doubt at once, as after a late answer, and was given back"
              .formatted(call.lock()));
    }
    return now == LeaseState.HELD;
  }

  /**
   * Whether a hold might begin uncertain, because nothing was heard of the broker for too long.
   * Either it was won without a request, in a session without leases, which sends no beats. Or the
   * broker took long for the request, as it may with a slow disk.
   */
  private static boolean maybeSilent(Session session) {
    return session.silentNanos() >= session.certainFor().toNanos() / 2;
  }

  /**
   * Verifies the leases of a session, many at a time, and does not wait for any of them. A lease
   * whose reply is overdue must not keep the others from theirs. A lease that is still being
   * verified by the last pass is skipped. If the broker does not reply to anything any more, the
   * rest of the pass is skipped too. The state of each lease then follows from the clock.
   *
   * @return completed at the end of the pass
   */
  public CompletableFuture<Void> verify(Session session) {
    List<HeldLease> asked =
        leases.stream()
            .filter(lease -> lease.session().equals(session) && underWay.add(lease))
            .toList();
    Pass pass = new Pass(asked.size());
    asked.forEach(pass::begin);
    return pass.over;
  }

  /**
   * One verification of many leases.
   *
   * <p>Concurrency: the thread that ends the last verification completes the future.
   */
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

    private static boolean isHeld(HeldLease lease) {
      LeaseState state = lease.state();
      return state != LeaseState.LOST && state != LeaseState.RELEASED;
    }

    void begin(HeldLease lease) {
      try {
        verifying.execute(() -> verify(lease));
      } catch (RuntimeException | Error e) {
        // No thread can be started now. The next pass tries again.
        log.error("{} could not be verified", lease, e);
        ended(lease);
      }
    }

    private void verify(HeldLease lease) {
      try {
        if (!silent && isHeld(lease) && !lease.check() && isHeld(lease)) {
          log.warn(
              "{} could not be verified: RabbitMQ did not answer within {} ms; it is asked again",
              lease,
              callTimeout.toMillis());
          silent = lease.session().silentNanos() >= callTimeout.toNanos();
        }
      } catch (LockException e) {
        if (isHeld(lease)) {
          log.warn("{} could not be verified: {}", lease, e.getMessage());
        }
      } catch (RuntimeException e) {
        // An exception would end all later verifications.
        log.error("{} could not be verified", lease, e);
      } finally {
        ended(lease);
      }
    }

    private void ended(HeldLease lease) {
      underWay.remove(lease);
      if (left.decrementAndGet() == 0) {
        over.complete(null);
      }
    }
  }

  /**
   * Releases all leases, one by one while the bound allows. The close of the session frees the
   * rest.
   */
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

  /** Whether that session has a lease, held or being acquired. */
  boolean holdsAny(Session session) {
    return leases.stream().anyMatch(lease -> lease.session().equals(session));
  }

  /** Snapshots of the leases that are held. */
  public List<LeaseSnapshot> views() {
    return leases.stream().filter(HeldLease::isHeld).map(HeldLease::view).toList();
  }

  /**
   * Takes all leases of that lock from their holders. Returns how many there were. Whoever waits
   * begins its lease when one of these ends, and keeps it.
   */
  public int revoke(LockId lock, LossReason reason) {
    List<HeldLease> present =
        leases.stream().filter(lease -> lease.lock().equals(lock) && lease.isHeld()).toList();
    return (int) present.stream().filter(lease -> lease.lose(reason)).count();
  }

  void add(HeldLease lease) {
    leases.add(lease);
  }

  void remove(HeldLease lease) {
    leases.remove(lease);
  }

  void freed(LockId lock, Session session) {
    releaseListener.freed(lock, session);
  }

  boolean offer(BrokerGrant slot) {
    return releaseListener.offer(slot);
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

  /** Whether users hear of its leases. Those of administration and parts of leases are silent. */
  boolean isSilent() {
    return !notices.isHeard();
  }

  EventDispatcher notices() {
    return notices;
  }
}
