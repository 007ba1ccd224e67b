package io.amqplocks.inmemory;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockListener.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A lock in memory.
 *
 * @param id the lock
 * @param request what its calls want
 * @param table has the slots
 * @param results completes the futures of asynchronous calls
 */
record InMemoryLock(LockId id, Request request, LockTable table, Executor results)
    implements AmqpLock {

  @Override
  public AmqpLock fenced() {
    return with(request.withToken());
  }

  @Override
  public AmqpLock withPriority(int priority) {
    if (id.kind() != LockKind.TOKEN_SEMAPHORE && id.kind() != LockKind.FENCED_MUTEX) {
      throw invalid("The %s serves without priorities; a token semaphore has them".formatted(id));
    }
    if (Math.abs((long) priority) > MAX_PRIORITY) {
      throw invalid(
          "A priority of %1$d for %2$s is not possible; use -%3$d to %3$d"
              .formatted(priority, id, MAX_PRIORITY));
    }
    return with(request.withPriority(priority));
  }

  /** Makes no difference. A released slot is with the first waiter before a call could overtake. */
  @Override
  public AmqpLock unfair() {
    return this;
  }

  @Override
  public AmqpLock failFast() {
    return with(request.failingFast());
  }

  @Override
  public AmqpLock holdAtMost(Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw invalid("The longest time to hold %s is %s; use more than zero".formatted(id, time));
    }
    return with(request.withLimit(time));
  }

  @Override
  public AmqpLock withPermits(int permits) {
    String problem = null;
    if (permits < 1) {
      problem = "; use 1 or more";
    } else if (permits > MAX_PERMITS) {
      problem = "; use %d or fewer, or several leases".formatted(MAX_PERMITS);
    } else if (permits > 1 && id.kind().family() != Family.SEMAPHORE) {
      problem = ": each has one; those of a semaphore can have more";
    }
    if (problem != null) {
      throw invalid(
          "A lease of %d permits of %s is not possible%s".formatted(permits, id, problem));
    }
    return with(request.withPermits(permits));
  }

  /** The error for a wrong argument. No call has begun that would name the lock. */
  private LockException.Invalid invalid(String message) {
    LockException.Invalid invalid = new LockException.Invalid(message);
    invalid.initLock(id);
    return invalid;
  }

  private InMemoryLock with(Request other) {
    return new InMemoryLock(id, other, table, results);
  }

  @Override
  public Optional<Lease> tryAcquire() {
    Attempt attempt = new Attempt(id, table, Duration.ZERO);
    try {
      Optional<InMemoryLease> lease = table.tryAcquire(id, request);
      lease.ifPresentOrElse(attempt::acquired, () -> attempt.missed(Outcome.BUSY, null));
      return lease.map(Lease.class::cast);
    } catch (RuntimeException | Error e) {
      attempt.missed(Outcome.ERROR, e);
      throw e;
    }
  }

  @Override
  public Lease acquire(Duration wait) throws InterruptedException {
    requirePositive(wait);
    Attempt attempt = new Attempt(id, table, wait);
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted before an attempt for " + id);
      }
      InMemoryLease lease = await(table.acquire(id, request, wait));
      attempt.acquired(lease);
      return lease;
    } catch (InterruptedException e) {
      attempt.missed(Outcome.INTERRUPTED, e);
      throw e;
    } catch (RuntimeException | Error e) {
      attempt.missed(e);
      throw e;
    }
  }

  private InMemoryLease await(Waiter waiter) throws InterruptedException {
    try {
      return waiter.outcome().get();
    } catch (InterruptedException e) {
      withdraw(waiter);
      throw new InterruptedException("interrupted while waiting for " + id);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof LockException failure) {
        throw failure;
      }
      throw new IllegalStateException(e);
    }
  }

  /** Ends the wait. A lease that was granted at that moment is given back unannounced. */
  private void withdraw(Waiter waiter) {
    if (!table.withdraw(waiter)) {
      var unused = waiter.outcome().thenAccept(InMemoryLease::close);
    }
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration wait) {
    requirePositive(wait);
    Attempt attempt = new Attempt(id, table, wait);
    CompletableFuture<Lease> result = new CompletableFuture<>();
    Waiter waiter;
    try {
      waiter = table.acquire(id, request, wait);
    } catch (RuntimeException | Error e) {
      attempt.missed(e);
      results.execute(() -> result.completeExceptionally(e));
      return result;
    }
    var unused =
        waiter
            .outcome()
            .whenCompleteAsync(
                (lease, failure) -> finish(attempt, result, lease, failure), results);
    // Also runs when the user cancels the future, or completes it in some other way.
    var unusedToo =
        result.whenComplete(
            (lease, failure) -> {
              if (table.withdraw(waiter)) {
                attempt.missed(Outcome.INTERRUPTED, null);
              }
            });
    return result;
  }

  private static void finish(
      Attempt attempt,
      CompletableFuture<Lease> result,
      InMemoryLease lease,
      @Nullable Throwable failure) {
    if (failure != null) {
      attempt.missed(failure);
      result.completeExceptionally(failure);
      return;
    }
    attempt.acquired(lease);
    if (!result.complete(lease)) {
      lease.close();
    }
  }

  private void requirePositive(Duration wait) {
    if (wait.isNegative()) {
      throw invalid(
          "The time to wait for %s is negative: %s; use zero or more".formatted(id, wait));
    }
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
