package io.amqplocks.internal.readwrite;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.NotifiedClaim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a write lock: first for the turn at the gate, then until there are no readers. A reader
 * that releases the lock notifies the wake queue. The first lease takes the turn with it, so this
 * subscription is over then.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class WriteSubscription implements Subscription {

  /** The pause while there is no consumer of the wake queue, so no message comes. */
  private static final long PAUSE_UNNOTIFIED = Duration.ofMillis(100).toNanos();

  private final Session session;
  private final Turn turn;
  private final Runnable wake;
  private final Claim ifUnread;
  private @Nullable Subscription wakeUps;
  private @Nullable LockException failure;

  WriteSubscription(WriteClaim claim, Session session, Turn turn, Runnable wake) {
    this.session = session;
    this.turn = turn;
    this.wake = wake;
    // No queue's end means a release: the holders are consumers.
    ifUnread =
        new NotifiedClaim(
            (call, own) -> claim.takeIfUnread(call, own, turn), claim.wakeQueue(), queue -> false);
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    failure = null;
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    if (!turn.attempt(call)) {
      return Optional.empty();
    }
    try {
      return takeInTurn(call);
    } catch (LockException.Unreachable e) {
      if (!session.isOpen()) {
        throw e;
      }
      // Another connection than that of the turn.
      closeWakeUps();
      failure = e;
      return Optional.empty();
    } catch (LockException.Unanswered e) {
      // The close that follows would wait for the broker for as long again.
      turn.close(call);
      throw e;
    }
  }

  @Override
  public Optional<LockException> failure() {
    return Optional.ofNullable(failure);
  }

  private Optional<HeldLease> takeInTurn(Call call) {
    Subscription waiting = wakeUps;
    if (waiting == null) {
      Optional<HeldLease> free = ifUnread.attempt(call, session);
      if (free.isPresent() || turn.isOver()) {
        return free;
      }
      waiting = ifUnread.subscribe(call, session, wake);
      wakeUps = waiting;
    }
    Optional<HeldLease> lease = waiting.attempt(call);
    if (waiting.isOver()) {
      closeWakeUps();
    }
    return lease;
  }

  private void closeWakeUps() {
    Subscription waiting = wakeUps;
    wakeUps = null;
    if (waiting != null) {
      waiting.close();
    }
  }

  @Override
  public boolean isOver() {
    return turn.isOver();
  }

  @Override
  public long pauseNanos() {
    Subscription waiting = wakeUps;
    return turn.pauseNanos()
        .orElseGet(() -> waiting == null ? PAUSE_UNNOTIFIED : waiting.pauseNanos());
  }

  @Override
  public void close() {
    closeWakeUps();
    turn.close();
  }
}
