package io.amqplocks.internal.readwrite;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.internal.waiting.Turn;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Waiting for a read lock: first for the turn at the gate, after which no writer holds the lock.
 * The readers that wait in this process share one turn, and pass in it one after the other. A turn
 * ends when nobody waits here any more, or when so many have passed, so that a writer behind it
 * gets its own.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class ReadSubscription implements Subscription {

  /** How many readers of one process pass in one turn. */
  static final int MOST_IN_A_TURN = 100;

  /**
   * The first and the longest pause of a reader whose turn it is, and who meets a writer that has
   * lost its own. RabbitMQ logs an error for each attempt.
   */
  private static final long SHORTEST = Duration.ofMillis(100).toNanos();

  private static final long LONGEST = Duration.ofMillis(1_600).toNanos();

  private final ReadClaim claim;
  private final Session session;
  private final Turn turn;
  private @Nullable LockException failure;
  private int passed;

  /** Doubled by each refusal, so the first pause after one is the shortest. */
  private long pause = SHORTEST / 2;

  ReadSubscription(ReadClaim claim, Session session, Turn turn) {
    this.claim = claim;
    this.session = session;
    this.turn = turn;
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
    Optional<HeldLease> lease = takeInTurn(call);
    if (lease.isPresent()) {
      passed++;
      pause = SHORTEST / 2;
    } else {
      pause = Math.min(2 * pause, LONGEST);
    }
    return lease;
  }

  private Optional<HeldLease> takeInTurn(Call call) {
    try {
      return claim.take(call, session);
    } catch (LockException.Unreachable e) {
      if (!session.isOpen()) {
        throw e;
      }
      // Another connection than that of the turn.
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

  @Override
  public boolean isOver() {
    return turn.isOver() || passed >= MOST_IN_A_TURN;
  }

  @Override
  public long pauseNanos() {
    return turn.pauseNanos().orElse(pause);
  }

  @Override
  public void close() {
    turn.close();
  }
}
