package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * The broker's part of one public call: the lock, and one bound over all of its steps.
 *
 * @param lock the lock, for messages
 * @param bound the bound of all steps together
 * @param end when the bound ends, in the ticker's time
 * @param ticker the time
 */
public record Call(LockId lock, Duration bound, long end, Ticker ticker) {

  /** A call that begins now and has the given bound. */
  public static Call on(LockId lock, Duration bound, Ticker ticker) {
    return new Call(lock, bound, ticker.nanos() + bound.toNanos(), ticker);
  }

  /** The rest of the bound; never negative. */
  public long remainingNanos() {
    return Math.max(0, end - ticker.nanos());
  }

  /** This call with half of its remaining time, for a step that must leave time for another. */
  public Call half() {
    return new Call(lock, bound, end - remainingNanos() / 2, ticker);
  }

  /** This call with no more than that time, for a step that is given up before the others. */
  public Call atMost(Duration time) {
    long first = ticker.nanos() + Math.min(time.toNanos(), remainingNanos());
    return new Call(lock, bound, first, ticker);
  }

  /** The error for a step that found all channels of the connection in use. */
  LockException.Unanswered noChannel(String step) {
    return new LockException.Unanswered(
        "All channels of the connection are in use; cannot %s for %s now".formatted(step, lock));
  }

  /** The error for a step that got no reply in time. */
  public LockException.Unanswered unanswered(String step) {
    return new LockException.Unanswered(
        "RabbitMQ did not answer within %d ms (the call timeout) when asked to %s for %s"
            .formatted(bound.toMillis(), step, lock));
  }
}
