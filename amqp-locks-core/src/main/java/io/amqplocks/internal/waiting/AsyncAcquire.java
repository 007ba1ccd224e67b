package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.internal.waiting.Step.Action;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An acquire that blocks no thread. It has a place in a wait queue like any other. A thread of the
 * library works on it only when there is something to do.
 *
 * <p>Concurrency: signals are counted, and the thread that raises the count from zero begins to
 * work. It works until no signal has come since it began. So there is one worker at a time, and no
 * signal is lost. Only the worker touches the place in the wait queue.
 *
 * <p>The user may cancel at any time. That is a signal. A lease that the cancelled future does not
 * accept any more is given back. The same holds if a timer ends the call because no worker did. All
 * threads may be waiting for a broker that does not reply, and the bound holds without a worker.
 */
final class AsyncAcquire {

  /** How late a worker may be that has its answer, or knows that there is none. */
  private static final long LATE = Duration.ofMillis(200).toNanos();

  private final QueuedLock lock;
  private final Context context;
  private final AcquireDeadline deadline;
  private final AcquireAttempt attempted;
  private final CompletableFuture<Lease> result = new CompletableFuture<>();
  private final AtomicInteger signals = new AtomicInteger();
  private WaitQueues.@Nullable Ticket ticket;
  private volatile @Nullable LockException overdue;
  private @Nullable Future<?> timer;
  private boolean over;
  private volatile boolean begun;

  AsyncAcquire(QueuedLock lock, AcquireDeadline deadline) {
    this.lock = lock;
    context = lock.context();
    this.deadline = deadline;
    attempted = lock.begin();
  }

  CompletableFuture<Lease> begin() {
    if (!deadline.isImmediate()) {
      try {
        // As blocking calls do: it would stand in line behind one that connects.
        lock.requireNoOutage();
      } catch (LockException e) {
        fail(null, Outcome.ERROR, e);
        return result;
      }
    }
    Future<?> end = endLater();
    // Also runs when the user cancels the future, or completes it in some other way.
    var unused =
        result.whenComplete(
            (lease, failure) -> {
              // Without a timer this cancels the result, which is complete already, so nothing
              // changes.
              end.cancel(false);
              signal();
            });
    // No worker may start before the place is there.
    signals.incrementAndGet();
    if (!deadline.isImmediate()) {
      ticket = context.waitQueues().join(lock.line(), lock.variant(), lock::front, this::signal);
    }
    runLater();
    return result;
  }

  private Future<?> endLater() {
    long nanos = deadline.remaining() + context.callTimeout().toNanos() + LATE;
    try {
      return context.timer().schedule(this::endWithoutWorker, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed. The worker reports that.
      return result;
    }
  }

  /** Called when the time for the wait and one call to the broker is over. */
  private void endWithoutWorker() {
    String text =
        "Nothing was heard of %s within the wait and one call timeout: RabbitMQ does not answer, or as many"
                .formatted(lock.id())
            + " calls as this client can make at once wait for its answers";
    // A call that was not begun says nothing about the broker.
    LockException failure =
        begun ? new LockException.Unanswered(text) : LockException.Unanswered.contended(text);
    failure.initLock(lock.id());
    overdue = failure;
    completeLate(failure);
  }

  /** As {@link #complete}, but never on the timer's thread, which other calls need on time. */
  private void completeLate(LockException failure) {
    try {
      context.results().execute(() -> result.completeExceptionally(failure));
    } catch (OutOfMemoryError e) {
      var unused =
          context.timer().schedule(() -> completeLate(failure), LATE, TimeUnit.NANOSECONDS);
    }
  }

  private void signal() {
    if (signals.getAndIncrement() == 0) {
      runLater();
    }
  }

  private void runLater() {
    try {
      context.executor().execute(this::work);
    } catch (RejectedExecutionException e) {
      // Closed: the rest takes no time. It is not run here, since the signal may come under a lock.
      Thread last = new Thread(this::work, "amqp-locks-closing");
      last.setDaemon(true);
      last.start();
    }
  }

  private LockException closed() {
    return new LockException.Closed("This AmqpLocks is closed; no more leases of " + lock.id());
  }

  private void work() {
    begun = true;
    int seen;
    do {
      seen = signals.get();
      if (!over) {
        step();
      }
    } while (!signals.compareAndSet(seen, 0));
  }

  private void step() {
    WaitQueues.Ticket mine = ticket;
    if (mine == null) {
      if (deadline.isImmediate()) {
        attempt();
      }
      return;
    }
    if (result.isDone()) {
      LockException late = overdue;
      end(mine, late == null ? Outcome.INTERRUPTED : Outcome.ERROR, late);
      return;
    }
    try {
      Step step = mine.place().next();
      Optional<HeldLease> lease = lock.take(mine, step, deadline);
      if (lease.isPresent()) {
        leave(mine);
        succeed(lease.get());
      } else if (deadline.remaining() <= 0) {
        Optional<HeldLease> last = lock.last(mine, deadline);
        if (last.isPresent()) {
          leave(mine);
          succeed(last.get());
          return;
        }
        LockException end = deadline.end(mine.place().outage());
        boolean busy = end instanceof LockException.AcquireTimeout;
        fail(mine, busy ? Outcome.TIMEOUT : Outcome.ERROR, end);
      } else {
        sleep(step.action() == Action.SLEEP ? step.nanos() : 0);
      }
    } catch (LockException e) {
      fail(mine, Outcome.ERROR, e);
    } catch (RejectedExecutionException e) {
      fail(mine, Outcome.ERROR, closed());
    } catch (RuntimeException | Error e) {
      // The place must be left in any case.
      fail(mine, Outcome.ERROR, e);
      throw e;
    }
  }

  /** A call that waits for nobody has no place in the queue. It asks the broker once. */
  private void attempt() {
    over = true;
    LockException late = overdue;
    if (result.isDone()) {
      attempted.missed(late == null ? Outcome.INTERRUPTED : Outcome.ERROR, late);
      return;
    }
    try {
      Optional<HeldLease> lease = lock.attempt();
      if (lease.isPresent()) {
        succeed(lease.get());
      } else {
        LockException busy = deadline.end(null);
        busy.initLock(attempted.lock());
        attempted.missed(Outcome.BUSY, null);
        complete(() -> result.completeExceptionally(busy));
      }
    } catch (LockException e) {
      fail(null, Outcome.ERROR, e);
    } catch (RuntimeException | Error e) {
      fail(null, Outcome.ERROR, e);
      throw e;
    }
  }

  private void sleep(long nanos) {
    Future<?> last = timer;
    if (last != null) {
      last.cancel(false);
    }
    long most = Math.min(nanos, deadline.remaining());
    timer = context.timer().schedule(this::signal, most, TimeUnit.NANOSECONDS);
  }

  private void end(WaitQueues.@Nullable Ticket mine, Outcome missed, @Nullable Throwable failure) {
    leave(mine);
    attempted.missed(missed, failure);
  }

  /** Leaves the wait queue once, since otherwise the queue would count one waiter too few. */
  private void leave(WaitQueues.@Nullable Ticket mine) {
    if (over || mine == null) {
      return;
    }
    over = true;
    Future<?> last = timer;
    if (last != null) {
      last.cancel(false);
    }
    context.waitQueues().leave(mine);
  }

  private void succeed(HeldLease lease) {
    attempted.acquired(lease);
    complete(
        () -> {
          if (!result.complete(lease)) {
            lease.close();
          }
        });
  }

  private void fail(WaitQueues.@Nullable Ticket mine, Outcome missed, Throwable failure) {
    end(mine, missed, failure);
    complete(() -> result.completeExceptionally(failure));
  }

  /**
   * Completes the result on another thread, because the worker must not be held up by what the user
   * does next. If no thread can be started now, the worker does it, or nobody would have the lease.
   */
  private void complete(Runnable completion) {
    try {
      context.results().execute(completion);
    } catch (OutOfMemoryError e) {
      completion.run();
    }
  }
}
