package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.BrokerProfile;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConsumerTimeoutWarningTest {

  /** Which queues have the broker's own timeout of half an hour. */
  @Tag("trap-9")
  @ParameterizedTest
  @CsvSource({
    // version, queue, plain protocol, minutes held, at risk
    "3.10.8, CLASSIC, false, 21, true",
    "3.10.8, QUORUM, false, 21, true",
    "3.11.28, CLASSIC, false, 21, true",
    "3.10.8, CLASSIC, true, 21, true",
    "3.10.8, CLASSIC, false, 20, false",
    "3.12.0, CLASSIC, false, 21, false",
    "3.12.0, CLASSIC, true, 21, true",
    "4.2.9, CLASSIC, false, 21, false",
    "4.2.9, QUORUM, false, 21, false",
    "4.2.9, CLASSIC, true, 21, true",
    "4.3.6, CLASSIC, true, 600, false",
    "4.3.6, QUORUM, false, 600, false",
  })
  void isAt(String version, TokenQueueType type, boolean plain, int minutes, boolean risk) {
    TokenQueueRef tokenQueue = new TokenQueueRef("q", type, plain);
    long nanos = Duration.ofMinutes(minutes).toNanos();
    assertThat(
            ConsumerTimeoutWarning.isAt(
                nanos,
                BrokerProfile.of(Map.of("product", "RabbitMQ", "version", version)),
                tokenQueue))
        .isEqualTo(risk);
  }
}
