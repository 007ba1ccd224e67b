package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Token queues have the arguments that each line of RabbitMQ needs, and none that it refuses. */
class TokenArgumentsTest {

  private static Map<String, Object> arguments(TokenQueueType type, int major, int minor) {
    return QueueArguments.tokens("q", type, major, minor).getArguments();
  }

  @Tag("trap-8")
  @ParameterizedTest
  @CsvSource({
    "3, 10, false",
    "3, 13, false",
    "4, 0, true",
    "4, 2, true",
    "4, 3, true",
    "5, 0, true"
  })
  void noLimitOfReturns(int major, int minor, boolean stated) {
    assertThat(arguments(TokenQueueType.QUORUM, major, minor).get("x-delivery-limit"))
        .isEqualTo(stated ? -1 : null);
    assertThat(arguments(TokenQueueType.CLASSIC, major, minor))
        .doesNotContainKey("x-delivery-limit")
        .containsEntry("x-queue-type", "classic");
  }

  @Tag("trap-9")
  @ParameterizedTest
  @CsvSource({
    "3, 10, false, false",
    "3, 11, false, false",
    "3, 12, true, true",
    "4, 2, true, true",
    "4, 3, true, false",
    "5, 0, true, false"
  })
  void aYearToAcknowledge(int major, int minor, boolean quorum, boolean classic) {
    assertThat(arguments(TokenQueueType.QUORUM, major, minor).get("x-consumer-timeout"))
        .isEqualTo(quorum ? 31_536_000_000L : null);
    assertThat(arguments(TokenQueueType.CLASSIC, major, minor).get("x-consumer-timeout"))
        .isEqualTo(classic ? 31_536_000_000L : null);
  }
}
