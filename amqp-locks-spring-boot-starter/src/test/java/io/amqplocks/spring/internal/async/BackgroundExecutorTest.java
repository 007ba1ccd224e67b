package io.amqplocks.spring.internal.async;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class BackgroundExecutorTest {

  @Test
  void aTaskMayBeDueInCenturies() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    Future<?> far =
        BackgroundExecutor.runAfter(Duration.ofSeconds(Long.MAX_VALUE), () -> done.set(true));
    CountDownLatch soon = new CountDownLatch(1);
    var unused = BackgroundExecutor.runAfter(Duration.ofMillis(1), soon::countDown);
    assertThat(soon.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(far).isNotDone();
    assertThat(far.cancel(false)).isTrue();
    assertThat(done).isFalse();
  }
}
