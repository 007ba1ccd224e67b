package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a call may still wait, and what it throws when that time is over. If the connection ever
 * worked, a broken one is waited for like a busy lock. The last observation decides what is thrown.
 */
final class AcquireDeadline {

  /** Practically unlimited, and small enough for the arithmetic. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final LockId lock;
  private final Variant variant;
  private final Duration wait;
  private final Ticker ticker;
  private final long end;
  private @Nullable LockException lastFailure;

  AcquireDeadline(LockId lock, Variant variant, Duration wait, Ticker ticker) {
    this.lock = lock;
    this.variant = variant;
    this.wait = wait;
    this.ticker = ticker;
    end = ticker.nanos() + (wait.compareTo(LONGEST) > 0 ? LONGEST : wait).toNanos();
  }

  long remaining() {
    return end - ticker.nanos();
  }

  /** Records that the last attempt found all slots held. */
  void busy() {
    lastFailure = null;
  }

  /**
   * Records that the last attempt found something broken. Throws the failure if waiting would only
   * hide it, or if the call waits for no broker.
   */
  void broken(LockException failure, boolean mayHeal) {
    if (!mayHeal || (variant.failFast() && failure.isOutage())) {
      throw failure;
    }
    lastFailure = failure;
  }

  /** Whether the call waits for nobody. */
  boolean isImmediate() {
    return wait.isZero();
  }

  /** The outage that another call met, for this one. */
  LockException metByAnother(LockException outage) {
    return new LockException.Unreachable(
        "Another call for %s has just met an outage: %s".formatted(lock, outage.getMessage()),
        outage);
  }

  /**
   * The exception to throw when the time is over.
   *
   * @param outage what the last attempt of any waiter met, if it was an outage
   */
  LockException end(@Nullable LockException outage) {
    if (lastFailure != null) {
      return lastFailure;
    }
    return outage != null
        ? metByAnother(outage)
        : new LockException.AcquireTimeout(
            "%s within %d ms, the time that this call would wait"
                .formatted(whatDidNotHappen(), wait.toMillis()));
  }

  private String whatDidNotHappen() {
    if (lock.kind().family() != Family.SEMAPHORE) {
      return "The %s did not come free".formatted(lock);
    }
    return variant.permits() == 1
        ? "No slot of %s came free".formatted(lock)
        : "Fewer than %d slots of %s came free".formatted(variant.permits(), lock);
  }
}
