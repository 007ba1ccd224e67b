package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Work that counts how many threads do it at once. */
public final class OverlappingWork {

  private final AtomicInteger running = new AtomicInteger();
  private final CountDownLatch end = new CountDownLatch(1);

  /** How many do it now. */
  public int running() {
    return running.get();
  }

  /** Does it at once; returns how many did it then. */
  public int run() {
    int now = running.incrementAndGet();
    running.decrementAndGet();
    return now;
  }

  /**
   * Does it until {@link #tell}; returns the greater of how many did it at its begin and its end.
   */
  public int untilToldSo() {
    int first = running.incrementAndGet();
    try {
      assertThat(end.await(60, TimeUnit.SECONDS)).isTrue();
      return Math.max(first, running.get());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      running.decrementAndGet();
    }
  }

  /** Ends it, for all. */
  public void tell() {
    end.countDown();
  }
}
