package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.HeldSlot;
import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.waiting.Step.Action;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;

/**
 * A lock as a user has it: attempts of one kind, with the waiting around them. Threads of the process
 * wait in a line; its first one asks the broker when that is worth while, or is handed a slot that
 * another thread here gives up.
 *
 * @param id the lock
 * @param kind how a slot of it is had
 * @param variant what the user wants of a slot
 * @param lineKey locks of one key share a line, whichever object they are
 * @param context what all locks have in common
 */
public record QueuedLock(LockId id, Kind kind, Variant variant, Object lineKey, Context context)
    implements AmqpLock {

  /**
   * What the user wants of a slot.
   *
   * @param fenced whether its lease has a fencing token
   * @param priority of all who wait those with the highest are served first
   */
  public record Variant(boolean fenced, int priority) {
    /** As it comes. */
    public static final Variant PLAIN = new Variant(false, 0);
  }

  /** A kind of lock. */
  public interface Kind {
    /** How a slot is had that is wanted so. */
    Claim claim(Variant variant);

    /** Whether it serves by priority. */
    default boolean hasPriorities() {
      return false;
    }
  }

  /**
   * What all locks have in common.
   *
   * @param sessions the way to the broker
   * @param lines the threads that wait
   * @param notices who hears of attempts that fail
   * @param callTimeout the bound on each call
   * @param ticker the time
   * @param executor works on calls that nobody waits for in a thread
   * @param results hands their results to the users
   * @param timer says when to look at them again
   */
  public record Context(
      Sessions sessions,
      WaitingLines lines,
      Notices notices,
      Duration callTimeout,
      Ticker ticker,
      ExecutorService executor,
      Executor results,
      ScheduledExecutorService timer) {}

  @Override
  public AmqpLock fenced() {
    return with(new Variant(true, variant.priority));
  }

  @Override
  public AmqpLock withPriority(int priority) {
    if (!kind.hasPriorities()) {
      throw new LockException.Invalid(
          "The %s serves without priorities; a token semaphore has them".formatted(id));
    }
    return with(new Variant(variant.fenced, priority));
  }

  private QueuedLock with(Variant other) {
    return new QueuedLock(id, kind, other, lineKey, context);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    Attempted attempted = begin();
    try {
      Optional<HeldLease> lease = context.lines.isEmpty(lineKey) ? attempt() : Optional.empty();
      lease.ifPresentOrElse(attempted::acquired, () -> attempted.missed(Outcome.BUSY, null));
      return lease.map(Lease.class::cast);
    } catch (RuntimeException | Error e) {
      attempted.missed(Outcome.ERROR, e);
      throw e;
    }
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    requirePositive(wait);
    return new AsyncAcquire(this, new Patience(id, wait, context.ticker)).begin();
  }

  private void requirePositive(Duration wait) {
    if (wait.isNegative()) {
      throw new LockException.Invalid(
          "The time to wait for %s is negative: %s; use zero or more".formatted(id, wait));
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    requirePositive(wait);
    Attempted attempted = begin();
    try {
      HeldLease lease = standInLine(new Patience(id, wait, context.ticker));
      attempted.acquired(lease);
      return lease;
    } catch (LockException.AcquireTimeout e) {
      attempted.missed(Outcome.TIMEOUT, e);
      throw e;
    } catch (InterruptedException e) {
      attempted.missed(Outcome.INTERRUPTED, e);
      throw e;
    } catch (RuntimeException | Error e) {
      attempted.missed(Outcome.ERROR, e);
      throw e;
    }
  }

  private HeldLease standInLine(Patience patience) throws InterruptedException {
    WaitingLines.Ticket ticket = context.lines.join(lineKey, variant, () -> new Head(this), null);
    try {
      return acquire(ticket, patience);
    } finally {
      context.lines.leave(ticket);
    }
  }

  private HeldLease acquire(WaitingLines.Ticket ticket, Patience patience)
      throws InterruptedException {
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for " + id);
      }
      Step step = ticket.place().await(patience.remaining());
      Optional<HeldLease> lease = take(ticket, step, patience);
      if (lease.isPresent()) {
        return lease.get();
      }
      if (patience.remaining() <= 0) {
        throw patience.end();
      }
    }
  }

  /** Does what one who waits is to do next. */
  Optional<HeldLease> take(WaitingLines.Ticket ticket, Step step, Patience patience) {
    HeldSlot handed = step.slot();
    if (handed != null) {
      return handed.takeOver();
    }
    if (step.action() == Action.GO) {
      context.sessions.requireNotClosed(call());
    }
    if (step.action() != Action.TRY) {
      return Optional.empty();
    }
    // Who had a slot, or met an error, leaves; the next one may try at once.
    boolean again = true;
    try {
      Optional<HeldLease> lease = ticket.head().attempt(variant, patience, ticket.line()::released);
      again = lease.isPresent();
      return lease;
    } finally {
      ticket.place().tried(again, again ? 0 : ticket.head().pauseNanos());
    }
  }

  private Optional<HeldLease> attempt() {
    Call call = call();
    return kind.claim(variant).attempt(call, context.sessions.current(call));
  }

  Call call() {
    return Call.on(id, context.callTimeout, context.ticker);
  }

  /** A call begins, on the caller's thread. */
  Attempted begin() {
    return new Attempted(id, context, context.notices.begin(id), context.ticker.nanos());
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
