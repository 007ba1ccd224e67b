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
 * Waiting for a write lock: first for the turn at the gate, and then until there are no readers.
 * These notify the wake queue when they release. It is used up by the first lease, to which the
 * turn belongs then.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class WriteSubscription implements Subscription {

  /** The pause of a writer that can be told nothing: the broker ended its consumer. */
  private static final long UNTOLD = Duration.ofMillis(100).toNanos();

  private final Session session;
  private final Turn turn;
  private final Runnable wake;
  private final Claim drained;
  private @Nullable Subscription readers;

  WriteSubscription(WriteClaim claim, Session session, Turn turn, Runnable wake) {
    this.session = session;
    this.turn = turn;
    this.wake = wake;
    drained =
        new NotifiedClaim(
            (call, own) -> claim.takeIfUnread(call, own, turn), claim.wakeQueue(), queue -> false);
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    if (!turn.isMine(call)) {
      return Optional.empty();
    }
    Subscription waiting = readers;
    if (waiting == null) {
      Optional<HeldLease> free = drained.attempt(call, session);
      if (free.isPresent() || turn.isOver()) {
        return free;
      }
      waiting = drained.subscribe(call, session, wake);
      readers = waiting;
    }
    Optional<HeldLease> lease = waiting.attempt(call);
    if (waiting.isOver()) {
      closeReaders();
    }
    return lease;
  }

  private void closeReaders() {
    Subscription waiting = readers;
    readers = null;
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
    Subscription waiting = readers;
    return turn.pauseNanos().orElseGet(() -> waiting == null ? UNTOLD : waiting.pauseNanos());
  }

  @Override
  public void close() {
    closeReaders();
    turn.close();
  }
}
