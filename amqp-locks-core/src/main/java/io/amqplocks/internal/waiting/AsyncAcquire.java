package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.internal.waiting.Step.Action;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockListener.Outcome;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An acquire that parks no thread: it stands in the line like any other, and is worked on, by a thread of
 * the library, only when there is something to do.
 *
 * <p>Concurrency: signals are counted, and whoever raises the count from zero begins to work; it works
 * until no signal has come since it began, so there is one worker at a time and no signal is lost. Only
 * the worker touches the place in the line. The user may cancel at any time: that is a signal, and a lease
 * that the cancelled future does not take any more is given back.
 */
final class AsyncAcquire {

  private final QueuedLock lock;
  private final Context context;
  private final Patience patience;
  private final Attempted attempted;
  private final CompletableFuture<Lease> result = new CompletableFuture<>();
  private final AtomicInteger signals = new AtomicInteger();
  private WaitingLines.@Nullable Ticket ticket;
  private @Nullable Future<?> timer;
  private boolean over;

  AsyncAcquire(QueuedLock lock, Patience patience) {
    this.lock = lock;
    context = lock.context();
    this.patience = patience;
    attempted = lock.begin();
  }

  CompletableFuture<Lease> begin() {
    // Cancelled, or completed by the user in some other way.
    var unused = result.whenComplete((lease, failure) -> signal());
    // Nobody works on it before it has its place.
    signals.incrementAndGet();
    ticket =
        context.lines().join(lock.lineKey(), lock.variant(), () -> new Head(lock), this::signal);
    runLater();
    return result;
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
      // Closed: what is left to do takes no time. Not here, for the signal may come under a lock.
      Thread last = new Thread(this::work, "amqp-locks-closing");
      last.setDaemon(true);
      last.start();
    }
  }

  private LockException closed() {
    return new LockException.Closed("This AmqpLocks is closed; no more leases of " + lock.id());
  }

  private void work() {
    int seen;
    do {
      seen = signals.get();
      if (!over) {
        step();
      }
    } while (!signals.compareAndSet(seen, 0));
  }

  private void step() {
    WaitingLines.Ticket mine = ticket;
    if (mine == null) {
      return;
    }
    if (result.isDone()) {
      end(mine, Outcome.INTERRUPTED, null);
      return;
    }
    try {
      Step step = mine.place().next();
      Optional<HeldLease> lease = lock.take(mine, step, patience);
      if (lease.isPresent()) {
        leave(mine);
        succeed(lease.get());
      } else if (patience.remaining() <= 0) {
        LockException end = patience.end();
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
      // The place must be left, whatever happened.
      fail(mine, Outcome.ERROR, e);
      throw e;
    }
  }

  private void sleep(long nanos) {
    Future<?> last = timer;
    if (last != null) {
      last.cancel(false);
    }
    long most = Math.min(nanos, patience.remaining());
    timer = context.timer().schedule(this::signal, most, TimeUnit.NANOSECONDS);
  }

  private void end(WaitingLines.Ticket mine, Outcome missed, @Nullable Throwable failure) {
    leave(mine);
    attempted.missed(missed, failure);
  }

  /** Once, or a line would lose one more than it has. */
  private void leave(WaitingLines.Ticket mine) {
    if (over) {
      return;
    }
    over = true;
    Future<?> last = timer;
    if (last != null) {
      last.cancel(false);
    }
    context.lines().leave(mine);
  }

  /** In other threads than ours, which must not be held up by what the user does next. */
  private void succeed(HeldLease lease) {
    attempted.acquired(lease);
    context
        .results()
        .execute(
            () -> {
              if (!result.complete(lease)) {
                lease.close();
              }
            });
  }

  private void fail(WaitingLines.Ticket mine, Outcome missed, Throwable failure) {
    end(mine, missed, failure);
    context.results().execute(() -> result.completeExceptionally(failure));
  }
}
