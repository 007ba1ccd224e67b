package io.amqplocks.spring.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogThrottleTest {

  /** Monotonic time may begin anywhere, and overflow. */
  private final AtomicLong time = new AtomicLong(Long.MAX_VALUE - 5);

  private final LogThrottle throttle = new LogThrottle(Duration.ofNanos(10), time::get);

  @Test
  void theFirstIsLoggedAndThenOneInAWhile() {
    assertThat(throttle.isDue()).isTrue();
    assertThat(throttle.isDue()).isFalse();
    time.addAndGet(9);
    assertThat(throttle.isDue()).isFalse();
    time.addAndGet(1);
    assertThat(throttle.isDue()).isTrue();
    assertThat(throttle.isDue()).isFalse();
  }

  @Test
  void aPauseSavesNothingUp() {
    time.addAndGet(100);
    assertThat(throttle.isDue()).isTrue();
    assertThat(throttle.isDue()).isFalse();
  }
}
