package io.amqplocks.internal.session;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * The broker's part of one public call: which lock it is about, and one bound over all of its steps.
 *
 * @param lock the lock, for messages
 * @param bound how long all steps together may take
 * @param end when that is over, in the ticker's time
 * @param ticker the time
 */
public record Call(LockId lock, Duration bound, long end, Ticker ticker) {

  /** A call that may take that long from now. */
  public static Call on(LockId lock, Duration bound, Ticker ticker) {
    return new Call(lock, bound, ticker.nanos() + bound.toNanos(), ticker);
  }

  /** What is left of the bound, zero at least. */
  public long remainingNanos() {
    return Math.max(0, end - ticker.nanos());
  }

  /** A step of this call that may take half of what is left, so that something is left after it. */
  public Call half() {
    return new Call(lock, bound, end - remainingNanos() / 2, ticker);
  }

  /** The error for a step that found all channels of the connection in use. */
  LockException.Unanswered noChannel(String step) {
    return new LockException.Unanswered(
        "All channels of the connection are in use; cannot %s for %s now".formatted(step, lock));
  }

  /** The error for a step that got no answer in time. */
  public LockException.Unanswered unanswered(String step) {
    return new LockException.Unanswered(
        "RabbitMQ did not answer within %d ms (the call timeout) when asked to %s for %s"
            .formatted(bound.toMillis(), step, lock));
  }
}
