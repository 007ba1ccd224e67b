package io.amqplocks.leader;

import io.amqplocks.internal.broker.FailureLog;
import io.amqplocks.lock.LockId;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The failures of one contender, one after the other: logs each new kind of failure once, and says
 * how long to pause. The pauses are random and double up to a cap.
 *
 * <p>Concurrency: for one thread.
 */
final class ContendingFailures {

  private static final Logger log = LoggerFactory.getLogger(ContendingFailures.class);

  static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final LockId lock;
  private @Nullable Class<?> last;
  private long longest = FIRST_PAUSE_NANOS;

  ContendingFailures(LockId lock) {
    this.lock = lock;
  }

  /**
   * Logs the failure, if it is of another kind than the last one.
   *
   * @return how long to pause, in nanoseconds
   */
  long add(Throwable failure) {
    FailureLog.write(() -> say(failure));
    last = failure.getClass();
    long pause = longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1);
    longest = Math.min(LONGEST_PAUSE_NANOS, longest * 2);
    return pause;
  }

  private void say(Throwable failure) {
    if (failure.getClass().equals(last)) {
      log.debug("Contending for the leadership by the {} still fails", lock, failure);
    } else {
      log.warn(
          "This process cannot contend for the leadership by the {}, and goes on trying: {}",
          lock,
          FailureLog.text(failure));
    }
  }

  /** The lock was acquired: the next failure is a new one. */
  void end() {
    last = null;
    longest = FIRST_PAUSE_NANOS;
  }
}
