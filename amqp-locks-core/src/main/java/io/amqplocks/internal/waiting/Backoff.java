package io.amqplocks.internal.waiting;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The pauses between attempts of a process that waits for another's slot: random, so that processes
 * do not march in step, and longer and longer up to a cap, so that many waiters do not wear the broker
 * out. Each is drawn between the base and three times the one before ("decorrelated jitter").
 */
public final class Backoff {

  static final Duration BASE = Duration.ofMillis(5);
  static final Duration CAP = Duration.ofMillis(250);

  private final Supplier<RandomGenerator> random;
  private long last = BASE.toNanos();

  /** Pauses drawn by whichever thread asks. */
  public Backoff() {
    random = ThreadLocalRandom::current;
  }

  /** Pauses drawn from that source. */
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
