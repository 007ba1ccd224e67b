package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The broker's part of one public call: the lock, and one bound over all of its steps.
 *
 * @param of the lock; null if the call is for all of them
 * @param bound the bound of all steps together
 * @param end when the bound ends, in the ticker's time
 * @param ticker the time
 * @param failsFast whether the call waits for no attempt to connect that follows a failed one
 */
public record Call(
    @Nullable LockId of, Duration bound, long end, Ticker ticker, boolean failsFast) {

  /** A call that begins now and has the given bound. */
  public static Call on(LockId lock, Duration bound, Ticker ticker) {
    return new Call(lock, bound, ticker.after(bound), ticker, false);
  }

  /** A call that begins now, and opens what all locks of the process need. */
  public static Call onAll(Duration bound, Ticker ticker) {
    return new Call(null, bound, ticker.after(bound), ticker, false);
  }

  /** The lock. A call for all locks has none, and must not be asked. */
  public LockId lock() {
    return Objects.requireNonNull(of);
  }

  /** What the call is for, in words for messages. */
  public String purpose() {
    return of == null ? "the locks of this process" : of.toString();
  }

  /** The rest of the bound; never negative. */
  public long remainingNanos() {
    return Math.max(0, end - ticker.nanos());
  }

  /** This call, as one that waits for no attempt to connect but the first. */
  public Call failingFast() {
    return new Call(of, bound, end, ticker, true);
  }

  /** This call with half of its remaining time, for a step that must leave time for another. */
  public Call half() {
    return new Call(of, bound, end - remainingNanos() / 2, ticker, failsFast);
  }

  /** This call with no more than that time, for a step that is given up before the others. */
  public Call atMost(Duration time) {
    long first = ticker.nanos() + Math.min(time.toNanos(), remainingNanos());
    return new Call(of, bound, first, ticker, failsFast);
  }

  /** The error for a step that found all channels of the connection in use. */
  LockException.Unanswered noChannel(String step) {
    return LockException.Unanswered.contended(
        "All channels of the connection are in use; cannot %s for %s now"
            .formatted(step, purpose()));
  }

  /** The error for a step that got no reply in time. */
  public LockException.Unanswered unanswered(String step) {
    return new LockException.Unanswered(
        "RabbitMQ did not answer within %d ms (the call timeout) when asked to %s for %s"
            .formatted(bound.toMillis(), step, purpose()));
  }
}
