package io.amqplocks.spring.internal.time;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Lets a message be logged at once, and then at most one in a while.
 *
 * <p>Concurrency: of the threads that find a message due, one wins the compare-and-set and logs it.
 */
public final class LogThrottle {

  private final long every;
  private final Ticker ticker;
  private final AtomicLong dueAt;

  /** Lets one through in that time. */
  public LogThrottle(Duration every, Ticker ticker) {
    this.every = every.toNanos();
    this.ticker = ticker;
    dueAt = new AtomicLong(ticker.nanos());
  }

  /** Whether this message is to be logged. */
  public boolean isDue() {
    long now = ticker.nanos();
    long due = dueAt.get();
    return now - due >= 0 && dueAt.compareAndSet(due, now + every);
  }
}
