package io.amqplocks.internal.waiting;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The pauses between attempts of a process that waits for a slot of another. The pauses are random,
 * so that processes do not synchronize. They grow up to a cap, so that many waiters do not overload
 * the broker. Each pause is drawn between the base and three times the previous one ("decorrelated
 * jitter").
 */
public final class Backoff {

  static final Duration BASE = Duration.ofMillis(5);
  static final Duration CAP = Duration.ofMillis(250);

  private final Supplier<RandomGenerator> random;
  private long last = BASE.toNanos();

  /** Creates pauses that are drawn from the random source of the calling thread. */
  public Backoff() {
    random = ThreadLocalRandom::current;
  }

  /** Creates pauses that are drawn from that source. */
  Backoff(RandomGenerator random) {
    this.random = () -> random;
  }

  /** The next pause in nanoseconds. */
  public long next() {
    long upper = Math.min(CAP.toNanos(), last * 3);
    last = random.get().nextLong(BASE.toNanos(), upper + 1);
    return last;
  }
}
