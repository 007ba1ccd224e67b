package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.BoundedMap;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StrayMessageLogTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final StrayMessageLog log = new StrayMessageLog(nanos::get);

  @Test
  void theFirstIsLoggedAtOnceAndTheRestOnceAMinute() {
    assertThat(log.toLog("a")).isEqualTo(1);
    nanos.addAndGet(Duration.ofSeconds(59).toNanos());
    assertThat(log.toLog("a")).isZero();
    assertThat(log.toLog("a")).isZero();
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(log.toLog("a")).isEqualTo(3);
    assertThat(log.toLog("a")).isZero();
  }

  @Test
  void aFloodInOneQueueHidesNoMessageInAnother() {
    assertThat(log.toLog("a")).isEqualTo(1);
    assertThat(log.toLog("a")).isZero();
    assertThat(log.toLog("b")).isEqualTo(1);
  }

  @Test
  void queuesAreForgottenWhenThereAreTooMany() {
    assertThat(log.toLog("first")).isEqualTo(1);
    for (int i = 0; i < BoundedMap.MOST; i++) {
      assertThat(log.toLog("queue-" + i)).isEqualTo(1);
    }
    assertThat(log.toLog("queue-" + (BoundedMap.MOST - 1))).isZero();
    assertThat(log.toLog("first")).isEqualTo(1);
  }
}
