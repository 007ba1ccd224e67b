package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asks the broker on behalf of the first waiter of a wait queue. It makes an attempt, unless a
 * subscription serves as one or the attempt is likely to be in vain. If that fails, it subscribes
 * and makes another attempt. That order misses no slot. The second attempt finds a slot that became
 * free before the subscription. The subscription is notified of a slot that becomes free later. The
 * subscription is kept when another waiter becomes the first, unless that one wants another
 * variant.
 *
 * <p>A waiter for whom the subscription is the only attempt may run out of time while that is made:
 * it may take a connection, or two. What it brings comes a moment later. So such a waiter ends the
 * subscription and makes an attempt, as one does that does not wait. The next waiter subscribes
 * anew.
 *
 * <p>Concurrency: used by one thread at a time, which the wait queue ensures, and by the last
 * thread that leaves the queue.
 */
final class FrontWaiter {

  /** Within which a subscription brings what is free, on a busy machine too. */
  private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(5);

  private final Kind kind;
  private final Sessions sessions;
  private final Function<Variant, Call> calls;
  private final Backoff backoff = new Backoff();
  private @Nullable Subscription subscription;
  private Variant variant;
  private @Nullable LockException outage;

  /**
   * Creates the front of a wait queue.
   *
   * @param kind how a slot of the lock is acquired
   * @param sessions the connections to the broker
   * @param calls begins a call for a slot of that variant
   * @param variant what the first waiter wants
   */
  FrontWaiter(Kind kind, Sessions sessions, Function<Variant, Call> calls, Variant variant) {
    this.kind = kind;
    this.sessions = sessions;
    this.calls = calls;
    this.variant = variant;
  }

  /** Attempts to acquire a slot. Any exception from the attempt ends the subscription. */
  Optional<HeldLease> attempt(Variant wanted, AcquireDeadline deadline, Runnable wake) {
    boolean usable = false;
    outage = null;
    try {
      if (!wanted.asksTheSameAs(variant)) {
        close();
      }
      variant = wanted;
      Subscription kept = subscription;
      Optional<HeldLease> lease = kept == null ? first(deadline, wake) : again(kept);
      if (lease.isEmpty()) {
        sessions.requireNotClosed(calls.apply(variant));
        record(deadline);
      }
      usable = true;
      return lease;
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      close();
      // A close explains why the session ended, so it is reported instead.
      sessions.requireNotClosed(calls.apply(variant));
      usable = true;
      outage = e.isOutage() ? e : null;
      deadline.broken(e, sessions.everOpened());
      return Optional.empty();
    } finally {
      if (!usable) {
        close();
      }
    }
  }

  private void record(AcquireDeadline deadline) {
    Subscription kept = subscription;
    Optional<LockException> failure = kept == null ? Optional.empty() : kept.failure();
    outage = failure.filter(LockException::isOutage).orElse(null);
    failure.ifPresentOrElse(found -> deadline.broken(found, true), deadline::busy);
  }

  private Optional<HeldLease> first(AcquireDeadline deadline, Runnable wake) {
    Call call = calls.apply(variant);
    Session session = sessions.current(call);
    Claim claim = kind.claim(variant);
    long courtesy = claim.courtesyNanos(session);
    if (courtesy > 0 && courtesy < deadline.remaining()) {
      Futures.pause(courtesy);
    }
    boolean waitsAtOnce = claim.isAcquiredBySubscribing(call.lock());
    if (!waitsAtOnce || deadline.remaining() <= 0) {
      Optional<HeldLease> lease =
          deadline.remaining() > 0
              ? claim.attemptBeforeWaiting(call, session)
              : claim.attempt(call, session);
      if (lease.isPresent() || deadline.remaining() <= 0) {
        return lease;
      }
    }
    Subscription kept = claim.subscribe(call, session, wake);
    subscription = kept;
    Optional<HeldLease> lease = again(kept);
    if (lease.isEmpty() && waitsAtOnce && deadline.remaining() < MOMENT) {
      close();
      return claim.attempt(calls.apply(variant), session);
    }
    return lease;
  }

  private Optional<HeldLease> again(Subscription kept) {
    Call call = calls.apply(variant);
    sessions.requireNotClosed(call);
    Optional<HeldLease> lease = kept.attempt(call);
    if (kept.isOver()) {
      close();
    }
    return lease;
  }

  /** The outage that the last attempt met, if it did. */
  @Nullable LockException outage() {
    return outage;
  }

  /** How long to send no request to the broker, unless something happens. */
  long pauseNanos() {
    Subscription kept = subscription;
    // While the broker is unreachable, there is no attempt before the next one to connect.
    return kept == null ? Math.max(backoff.next(), sessions.pauseNanos()) : kept.pauseNanos();
  }

  /** Ends the subscription, because nobody waits any more or it is of no use. */
  void close() {
    Subscription kept = subscription;
    subscription = null;
    if (kept != null) {
      kept.close();
    }
  }
}
