package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.wakeup.WakeSubscription;
import io.amqplocks.internal.wakeup.WakeSubscription.Notification;
import io.amqplocks.lock.LockException;
import java.util.Optional;

/**
 * Waits to be notified of a release. A holder that died notifies nobody, and neither does a client
 * that knows nothing of notifications. So attempts are also made now and then: see {@link
 * LookSchedule}. An attempt of that kind that acquires the lock shows an unannounced release.
 */
final class NotifiedSubscription implements Subscription {

  private final Claim claim;
  private final Session session;
  private final String wakeQueue;
  private final WakeSubscription wakeup;
  private final UnannouncedReleases unannounced;
  private final LookSchedule looks = new LookSchedule();
  private boolean scheduled;
  private long lookAt;
  private long attemptedAt;

  NotifiedSubscription(Claim claim, Session session, String wakeQueue, WakeSubscription wakeup) {
    this.claim = claim;
    this.session = session;
    this.wakeQueue = wakeQueue;
    this.wakeup = wakeup;
    unannounced = UnannouncedReleases.of(session);
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    // An attempt before that time has another reason, such as a release in this process.
    boolean isLook = scheduled && call.ticker().nanos() - lookAt >= 0;
    // What follows it without a pause, such as an attempt for the next waiter, is no look.
    scheduled = false;
    Notification notification = wakeup.use();
    Optional<HeldLease> lease = attempt(call, notification);
    attemptedAt = call.ticker().nanos();
    if (notification != Notification.NONE) {
      looks.notified();
    }
    if (lease.isPresent()) {
      acquired(notification, isLook);
    }
    return lease;
  }

  private Optional<HeldLease> attempt(Call call, Notification notification) {
    try {
      return claim.attempt(call, session);
    } catch (RuntimeException | Error e) {
      // The lock may be free. Whoever waits elsewhere would find that at its next look only.
      wakeup.restore(notification);
      throw e;
    }
  }

  private void acquired(Notification notification, boolean isLook) {
    if (notification == Notification.OF_OTHERS) {
      unannounced.announced(wakeQueue);
    } else if (notification == Notification.NONE && isLook) {
      unannounced.unannounced(wakeQueue, attemptedAt);
    }
  }

  @Override
  public boolean isOver() {
    return wakeup.isGone();
  }

  @Override
  public long pauseNanos() {
    long pause = looks.next(unannounced.areExpected(wakeQueue, attemptedAt));
    scheduled = true;
    lookAt = attemptedAt + pause;
    return pause;
  }

  @Override
  public void close() {
    wakeup.close();
  }
}
