package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GrowingPoolTest {

  /** The system refuses the thread that a pool would grow by. Later it has threads again. */
  @Test
  void growsLaterIfNoThreadCanBeStartedNow() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    CountDownLatch wait = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(2);
    ThreadPoolExecutor pool =
        new GrowingPool(
            1,
            2,
            task -> {
              if (asked.incrementAndGet() == 2) {
                throw new OutOfMemoryError("unable to create native thread, says the test");
              }
              return new Thread(task);
            },
            timer,
            new ThreadPoolExecutor.AbortPolicy());
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
      timer.shutdownNow();
    }
  }

  /** A task may be the release of a slot, and must not be dropped. */
  @Test
  void aTaskWaitsIfNoThreadAtAllCanBeStartedNow() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch ran = new CountDownLatch(2);
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    ThreadPoolExecutor pool =
        new GrowingPool(
            1,
            2,
            task -> {
              if (asked.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread, says the test");
              }
              return new Thread(task);
            },
            timer,
            new ThreadPoolExecutor.AbortPolicy());
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
      timer.shutdownNow();
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
