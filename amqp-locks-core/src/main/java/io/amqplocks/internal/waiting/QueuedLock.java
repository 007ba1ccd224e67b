package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.internal.lease.EventDispatcher;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Sessions;
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
 * A user's lock: attempts of one kind, and waiting around them. Threads of the process wait in a
 * queue. The first one asks the broker when that is worthwhile, or is handed a slot that another
 * thread of the process releases.
 *
 * @param id the lock
 * @param kind how a slot of the lock is acquired
 * @param variant what the user wants of a slot
 * @param queueKey locks with the same key share a wait queue, even if they are different objects
 * @param context what all locks have in common
 */
public record QueuedLock(LockId id, Kind kind, Variant variant, Object queueKey, Context context)
    implements AmqpLock {

  /** A kind of lock. */
  public interface Kind {
    /** How a slot of that variant is acquired. */
    Claim claim(Variant variant);

    /** Whether waiters are served by priority. */
    default boolean hasPriorities() {
      return false;
    }

    /** Whether a lease may have several slots. */
    default boolean hasPermits() {
      return false;
    }
  }

  /**
   * What all locks have in common.
   *
   * @param sessions the connections to the broker
   * @param waitQueues the threads that wait
   * @param notices notifies the user's code of attempts that fail
   * @param callTimeout the bound on each call
   * @param ticker the time
   * @param executor works on asynchronous calls
   * @param results hands the results of asynchronous calls to the users
   * @param timer schedules the next step of asynchronous calls
   */
  public record Context(
      Sessions sessions,
      WaitQueues waitQueues,
      EventDispatcher notices,
      Duration callTimeout,
      Ticker ticker,
      ExecutorService executor,
      Executor results,
      ScheduledExecutorService timer) {}

  @Override
  public AmqpLock fenced() {
    return with(variant.withToken());
  }

  @Override
  public AmqpLock withPriority(int priority) {
    if (!kind.hasPriorities()) {
      throw invalid("The %s serves without priorities; a token semaphore has them".formatted(id));
    }
    if (Math.abs((long) priority) > MAX_PRIORITY) {
      throw invalid(
          "A priority of %1$d for %2$s is not possible; use -%3$d to %3$d"
              .formatted(priority, id, MAX_PRIORITY));
    }
    return with(variant.withPriority(priority));
  }

  @Override
  public AmqpLock unfair() {
    return with(variant.withoutOrder());
  }

  @Override
  public AmqpLock withPermits(int permits) {
    if (permits < 1) {
      throw invalid(
          "A lease of %d permits of %s is not possible; use 1 or more".formatted(permits, id));
    }
    if (permits > MAX_PERMITS) {
      throw invalid(
          "A lease of %d permits of %s is not possible; use %d or fewer, or several leases"
              .formatted(permits, id, MAX_PERMITS));
    }
    if (permits > 1 && !kind.hasPermits()) {
      throw invalid(
          "A lease of %d permits of %s is not possible: each has one; those of a semaphore can have more"
              .formatted(permits, id));
    }
    return with(variant.withPermits(permits));
  }

  @Override
  public AmqpLock failFast() {
    return with(variant.failingFast());
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw invalid("The longest time to hold %s is %s; use more than zero".formatted(id, time));
    }
    return with(variant.withLimit(time));
  }

  /** The error for a wrong argument. No call has begun that would name the lock. */
  private LockException.Invalid invalid(String message) {
    LockException.Invalid invalid = new LockException.Invalid(message);
    invalid.initLock(id);
    return invalid;
  }

  private QueuedLock with(Variant other) {
    return new QueuedLock(id, kind, other, queueKey, context);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    AcquireAttempt attempted = begin();
    try {
      Optional<HeldLease> lease = attempt();
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
    return new AsyncAcquire(this, deadline(wait)).begin();
  }

  private AcquireDeadline deadline(Duration wait) {
    return new AcquireDeadline(id, variant, wait, context.ticker);
  }

  private void requirePositive(Duration wait) {
    if (wait.isNegative()) {
      throw invalid(
          "The time to wait for %s is negative: %s; use zero or more".formatted(id, wait));
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    requirePositive(wait);
    AcquireAttempt attempted = begin();
    try {
      AcquireDeadline deadline = deadline(wait);
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted before an attempt for " + id);
      }
      HeldLease lease =
          deadline.isImmediate()
              ? attempt().orElseThrow(() -> deadline.end(null))
              : standInLine(deadline);
      attempted.acquired(lease);
      return lease;
    } catch (LockException.AcquireTimeout e) {
      if (wait.isZero()) {
        e.initLock(id);
        attempted.missed(Outcome.BUSY, null);
      } else {
        attempted.missed(Outcome.TIMEOUT, e);
      }
      throw e;
    } catch (InterruptedException e) {
      attempted.missed(Outcome.INTERRUPTED, e);
      throw e;
    } catch (RuntimeException | Error e) {
      attempted.missed(Outcome.ERROR, e);
      throw e;
    }
  }

  private HeldLease standInLine(AcquireDeadline deadline) throws InterruptedException {
    requireNoOutage();
    WaitQueues.Ticket ticket = context.waitQueues.join(line(), variant, this::front, null);
    try {
      return acquire(ticket, deadline);
    } finally {
      context.waitQueues.leave(ticket);
    }
  }

  private HeldLease acquire(WaitQueues.Ticket ticket, AcquireDeadline deadline)
      throws InterruptedException {
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for " + id);
      }
      Step step = ticket.place().await(deadline.remaining());
      Optional<HeldLease> lease = take(ticket, step, deadline);
      if (lease.isPresent()) {
        return lease.get();
      }
      if (deadline.remaining() <= 0) {
        return last(ticket, deadline).orElseThrow(() -> deadline.end(ticket.place().outage()));
      }
    }
  }

  /** The front of the lock's wait queue, if this call is the first one to wait there. */
  FrontWaiter front() {
    return new FrontWaiter(kind, context.sessions, this::call, variant);
  }

  /**
   * The last attempt of a waiter whose time is over before anybody had an answer. Only the broker
   * can say whether the lock is busy.
   */
  Optional<HeldLease> last(WaitQueues.Ticket ticket, AcquireDeadline deadline) {
    if (!ticket.place().isUnheard()) {
      return Optional.empty();
    }
    Optional<HeldLease> lease = attempt();
    deadline.busy();
    return lease;
  }

  /** Throws the failure of the last attempt to connect, if the call is not to wait for the next. */
  void requireNoOutage() {
    if (variant.failFast()) {
      context.sessions.requireNotFailing(call(variant));
    }
  }

  /** Executes the step that a waiter is to take. */
  Optional<HeldLease> take(WaitQueues.Ticket ticket, Step step, AcquireDeadline deadline) {
    BrokerGrant handed = step.slot();
    if (handed != null) {
      return handed.takeOver(variant.fenced());
    }
    if (step.action() == Action.CLOSED) {
      context.sessions.requireNotClosed(call(variant));
    }
    LockException outage = step.outage();
    if (outage != null) {
      throw deadline.metByAnother(outage);
    }
    if (step.action() != Action.TRY) {
      return Optional.empty();
    }
    // A waiter that acquired a slot, or met an error, leaves. The next one may try at once.
    boolean again = true;
    try {
      Optional<HeldLease> lease =
          ticket.front().attempt(variant, deadline, ticket.waitQueue()::released);
      again = lease.isPresent();
      return lease;
    } finally {
      ticket.place().tried(again, again ? 0 : ticket.front().pauseNanos(), ticket.front().outage());
    }
  }

  /** The key of the wait queue. Calls for several permits have no use for one slot. */
  Object line() {
    return variant.permits() == 1 ? queueKey : new WaitQueues.SeveralPermits(queueKey);
  }

  /** Asks the broker, whoever waits in this process. */
  Optional<HeldLease> attempt() {
    Call call = call(variant);
    try {
      Optional<HeldLease> lease = kind.claim(variant).attempt(call, context.sessions.current(call));
      if (lease.isEmpty()) {
        context.sessions.requireNotClosed(call);
      }
      return lease;
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      // A close explains why the session ended, so it is reported instead.
      context.sessions.requireNotClosed(call);
      throw e;
    }
  }

  /** A call for that variant, which is another one's if the front asks for the waiters. */
  private Call call(Variant wanted) {
    Call call = Call.on(id, context.callTimeout, context.ticker);
    return wanted.failFast() ? call.failingFast() : call;
  }

  /** Begins a call, on the caller's thread. */
  AcquireAttempt begin() {
    return new AcquireAttempt(
        id, context, context.notices.begin(id), context.ticker.nanos(), variant.holdAtMost());
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
