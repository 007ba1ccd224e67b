package io.amqplocks.internal.waiting;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * When a waiter looks for a free slot without having been notified of one. Looks are rare, since
 * holders notify waiters, and a lost notification or a dead holder is found soon enough. But a
 * holder may be a client that knows nothing of notifications, and that takes the lock again at
 * once. A rare look then meets a busy lock nearly always.
 *
 * <p>So looks have a budget. Some quick ones follow the first rare one, and a few more each rare
 * one after that. Quick looks in a row cover the time between two holds of such a client. If
 * releases without a notification are to be expected, all looks are quick.
 *
 * <p>All pauses are random, so that processes do not look all at once, and a waiter does not keep
 * step with a holder.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class LookSchedule {

  static final Duration RARE_FROM = Duration.ofMillis(500);
  static final Duration RARE_TO = Duration.ofMillis(1500);
  static final Duration QUICK_FROM = Duration.ofMillis(10);
  static final Duration QUICK_TO = Duration.ofMillis(30);

  /** The quick looks after the first rare one. */
  static final int FIRST_BUDGET = 20;

  /** The quick looks after each other rare one. */
  static final int BUDGET = 2;

  private final Supplier<RandomGenerator> random;
  private boolean begun;
  private int budget;

  /** Creates pauses that are drawn from the random source of the calling thread. */
  LookSchedule() {
    random = ThreadLocalRandom::current;
  }

  /** Creates pauses that are drawn from that source. */
  LookSchedule(RandomGenerator random) {
    this.random = () -> random;
  }

  /** A notification came, so the next one will too. */
  void notified() {
    budget = 0;
  }

  /**
   * The pause before the next look, in nanoseconds.
   *
   * @param unannounced whether releases without a notification are to be expected
   */
  long next(boolean unannounced) {
    if (unannounced) {
      return between(QUICK_FROM, QUICK_TO);
    }
    if (budget > 0) {
      budget--;
      return between(QUICK_FROM, QUICK_TO);
    }
    budget = begun ? BUDGET : FIRST_BUDGET;
    begun = true;
    return between(RARE_FROM, RARE_TO);
  }

  private long between(Duration from, Duration to) {
    return random.get().nextLong(from.toNanos(), to.toNanos());
  }
}
