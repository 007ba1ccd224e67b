package io.amqplocks.internal.lease;

import io.amqplocks.internal.lease.Holding.Standing;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks the broker how one slot stands, once at a time, however many want to know. Who comes while another
 * asks waits for the end of that, and is content with an answer to what was asked after it came; an older one
 * says nothing of what happened since.
 *
 * <p>Concurrency: the reference holds the last check. Whoever replaces one that has ended by its own, by
 * compare-and-set, asks; all others wait for its future, each within its own call. Whatever the asking
 * throws completes the future.
 */
final class Checks {

  private final AtomicReference<@Nullable Check> last = new AtomicReference<>();

  private record Check(long begunAt, CompletableFuture<Outcome> outcome) {}

  /**
   * What the broker said.
   *
   * @param standing how the slot stands
   * @param sentAt when that was asked for, or somewhat earlier
   */
  record Outcome(Standing standing, long sentAt) {}

  /**
   * Asks, or waits for another who asks the same.
   *
   * @throws LockException if the asking did, whoever asked
   */
  Outcome ask(Call call, Supplier<Standing> question) {
    long calledAt = call.ticker().nanos();
    while (true) {
      Check present = last.get();
      if (present != null && !present.outcome.isDone()) {
        Outcome theirs = await(call, present, calledAt);
        if (theirs != null) {
          return theirs;
        }
        continue;
      }
      Check mine = new Check(call.ticker().nanos(), new CompletableFuture<>());
      if (last.compareAndSet(present, mine)) {
        return ask(mine, question);
      }
    }
  }

  private static Outcome ask(Check mine, Supplier<Standing> question) {
    try {
      Outcome outcome = new Outcome(question.get(), mine.begunAt);
      mine.outcome.complete(outcome);
      return outcome;
    } catch (RuntimeException | Error e) {
      mine.outcome.completeExceptionally(e);
      throw e;
    }
  }

  /** Null if that was asked before this call began. */
  private static @Nullable Outcome await(Call call, Check theirs, long calledAt) {
    boolean asGood = theirs.begunAt - calledAt >= 0;
    try {
      Outcome outcome = Futures.await(theirs.outcome, call.remainingNanos());
      return asGood ? outcome : null;
    } catch (TimeoutException e) {
      return new Outcome(Standing.UNKNOWN, theirs.begunAt);
    } catch (ExecutionException e) {
      if (asGood && e.getCause() instanceof LockException failure) {
        throw failure;
      }
      return null;
    }
  }
}
