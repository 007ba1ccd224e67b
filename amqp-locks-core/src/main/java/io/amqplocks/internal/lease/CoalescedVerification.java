package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.lock.LockException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks the broker for the status of one slot, with one request at a time, however many threads want
 * to know. A thread that arrives during a request waits until that request ends. It accepts the
 * answer only if the request began after its own arrival. An older answer says nothing of what
 * happened since.
 *
 * <p>Concurrency: the reference contains the last check. A thread that replaces a finished check by
 * its own, by compare-and-set, sends the request. All others wait for the future of that check,
 * each within its own call. Any exception from the request completes the future.
 */
final class CoalescedVerification {

  private final AtomicReference<@Nullable Check> last = new AtomicReference<>();

  private record Check(long begunAt, CompletableFuture<Outcome> outcome) {}

  /**
   * The broker's answer.
   *
   * @param status the status of the slot
   * @param sentAt when the request was sent, or somewhat earlier
   */
  record Outcome(HoldStatus status, long sentAt) {}

  /**
   * Asks the broker, or waits for another thread that is asking.
   *
   * @throws LockException if the request failed, whichever thread sent it
   */
  Outcome ask(Call call, Supplier<HoldStatus> question) {
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

  private static Outcome ask(Check mine, Supplier<HoldStatus> question) {
    try {
      Outcome outcome = new Outcome(question.get(), mine.begunAt);
      mine.outcome.complete(outcome);
      return outcome;
    } catch (RuntimeException | Error e) {
      mine.outcome.completeExceptionally(e);
      throw e;
    }
  }

  /**
   * Waits for another thread's check. Null if its outcome does not count for this call: the check
   * began earlier, or failed in an unexpected way.
   */
  private static @Nullable Outcome await(Call call, Check theirs, long calledAt) {
    boolean asGood = theirs.begunAt - calledAt >= 0;
    try {
      Outcome outcome = Futures.await(theirs.outcome, call.remainingNanos());
      return asGood ? outcome : null;
    } catch (TimeoutException e) {
      return new Outcome(HoldStatus.UNKNOWN, theirs.begunAt);
    } catch (ExecutionException e) {
      if (asGood && e.getCause() instanceof LockException failure) {
        throw failure;
      }
      return null;
    }
  }
}
