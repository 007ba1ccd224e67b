package io.amqplocks.spring.internal.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PatientPoolTest {

  private static final int REFUSED = 3;

  private final AtomicInteger asked = new AtomicInteger();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);

  /** The system refuses the first threads. */
  private final ThreadFactory threads =
      task -> {
        if (asked.incrementAndGet() <= REFUSED) {
          throw new OutOfMemoryError("unable to create native thread, says the test");
        }
        return new Thread(task);
      };

  @AfterEach
  void stop() {
    timer.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTaskWaitsForAThreadAndRunsOnce(boolean asManyAsNeeded) throws Exception {
    PatientPool pool =
        asManyAsNeeded
            ? new PatientPool(0, Integer.MAX_VALUE, new SynchronousQueue<>(), threads, timer)
            : new PatientPool(2, 2, new LinkedBlockingQueue<>(), threads, timer);
    try {
      AtomicInteger runs = new AtomicInteger();
      CountDownLatch done = new CountDownLatch(1);
      pool.execute(
          () -> {
            runs.incrementAndGet();
            done.countDown();
          });
      assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(asked).hasValue(REFUSED + 1);
      pool.shutdown();
      assertThat(pool.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
      assertThat(runs).hasValue(1);
    } finally {
      pool.shutdownNow();
    }
  }
}
