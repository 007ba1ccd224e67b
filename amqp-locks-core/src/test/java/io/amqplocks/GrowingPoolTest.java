package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GrowingPoolTest {

  private final AtomicInteger asked = new AtomicInteger();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);

  /** A pool of one or two threads, for which the system refuses the given ones at first. */
  private ThreadPoolExecutor pool(int firstRefused, int lastRefused) {
    return new GrowingPool(
        1,
        2,
        task -> {
          int number = asked.incrementAndGet();
          if (number >= firstRefused && number <= lastRefused) {
            throw new OutOfMemoryError("unable to create native thread, says the test");
          }
          return new Thread(task);
        },
        timer,
        new ThreadPoolExecutor.AbortPolicy());
  }

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  /** The system refuses the thread that a pool would grow by. Later it has threads again. */
  @Test
  void growsLaterIfNoThreadCanBeStartedNow() throws Exception {
    CountDownLatch wait = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(2);
    ThreadPoolExecutor pool = pool(2, 2);
    try {
      for (int i = 0; i < 2; i++) {
        pool.execute(
            () -> {
              begun.countDown();
              awaitQuietly(wait);
            });
      }
      assertThat(begun.await(20, TimeUnit.SECONDS)).as("the second task has begun").isTrue();
    } finally {
      wait.countDown();
      pool.shutdownNow();
    }
  }

  /** A task may be the release of a slot, and must not be dropped. */
  @Test
  void aTaskWaitsIfNoThreadAtAllCanBeStartedNow() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch ran = new CountDownLatch(2);
    ThreadPoolExecutor pool = pool(1, 3);
    try {
      for (int i = 0; i < 2; i++) {
        pool.execute(
            () -> {
              runs.incrementAndGet();
              ran.countDown();
            });
      }
      assertThat(ran.await(20, TimeUnit.SECONDS)).as("both tasks ran").isTrue();
      pool.shutdown();
      assertThat(pool.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
      assertThat(runs).as("each once").hasValue(2);
    } finally {
      pool.shutdownNow();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
