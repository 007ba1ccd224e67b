package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A lock as a user has it: attempts of one kind, with the waiting around them. Threads of the process
 * wait in a line; the head of the line tries, and between processes it tries again after a jittered
 * pause, or at once when this process releases a slot.
 */
public final class QueuedLock implements AmqpLock {

  private final LockId id;
  private final Object lineKey;
  private final Claim claim;
  private final Claim fencedClaim;
  private final Sessions sessions;
  private final WaitingLines lines;
  private final Notices notices;
  private final Duration callTimeout;
  private final Ticker ticker;

  /**
   * A lock.
   *
   * @param lineKey locks of one key share a line, whichever object they are
   * @param fencedClaim the same claim with fencing tokens
   */
  public QueuedLock(
      LockId id,
      Object lineKey,
      Claim claim,
      Claim fencedClaim,
      Sessions sessions,
      WaitingLines lines,
      Notices notices,
      Duration callTimeout,
      Ticker ticker) {
    this.id = id;
    this.lineKey = lineKey;
    this.claim = claim;
    this.fencedClaim = fencedClaim;
    this.sessions = sessions;
    this.lines = lines;
    this.notices = notices;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
  }

  @Override
  public LockId id() {
    return id;
  }

  @Override
  public AmqpLock fenced() {
    return new QueuedLock(
        id, lineKey, fencedClaim, fencedClaim, sessions, lines, notices, callTimeout, ticker);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    long start = ticker.nanos();
    try {
      Optional<HeldLease> lease = lines.isEmpty(lineKey) ? attempt() : Optional.empty();
      lease.ifPresentOrElse(held -> held.announce(since(start)), () -> missed(Outcome.BUSY, start));
      return lease.map(Lease.class::cast);
    } catch (LockException e) {
      missed(Outcome.ERROR, start);
      throw e;
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    if (wait.isNegative()) {
      throw new LockException.Invalid(
          "The time to wait for %s is negative: %s; use zero or more".formatted(id, wait));
    }
    long start = ticker.nanos();
    Outcome missed = Outcome.ERROR;
    boolean acquired = false;
    WaitingLines.Ticket ticket = lines.join(lineKey);
    try {
      HeldLease lease = acquire(ticket, new Patience(id, wait, ticker));
      lease.announce(since(start));
      acquired = true;
      return lease;
    } catch (LockException.AcquireTimeout e) {
      missed = Outcome.TIMEOUT;
      throw e;
    } catch (InterruptedException e) {
      missed = Outcome.INTERRUPTED;
      throw e;
    } finally {
      lines.leave(ticket);
      if (!acquired) {
        missed(missed, start);
      }
    }
  }

  private HeldLease acquire(WaitingLines.Ticket ticket, Patience patience)
      throws InterruptedException {
    if (!ticket.place().awaitTurn(patience.remaining())) {
      throw patience.end();
    }
    Backoff backoff = new Backoff(ThreadLocalRandom.current());
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for " + id);
      }
      long mark = ticket.line().mark();
      try {
        Optional<HeldLease> lease = attempt();
        if (lease.isPresent()) {
          return lease.get();
        }
        patience.busy();
      } catch (LockException.Unreachable | LockException.Unanswered e) {
        patience.broken(e, sessions.everOpened());
      }
      if (patience.remaining() <= 0) {
        throw patience.end();
      }
      ticket.place().pause(Math.min(backoff.next(), patience.remaining()), mark);
    }
  }

  private Optional<HeldLease> attempt() {
    Call call = Call.on(id, callTimeout, ticker);
    return claim.attempt(call, sessions.current(call));
  }

  private void missed(Outcome outcome, long start) {
    Duration waited = since(start);
    notices.post(listener -> listener.notAcquired(id, outcome, waited));
  }

  private Duration since(long start) {
    return Duration.ofNanos(ticker.nanos() - start);
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
