package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class ClusterOfferTest {

  private static final Map<String, String> NOTHING_INSTALLED =
      Map.of("AMQP_LOCKS_BROKER_ROOT", "/nowhere", "AMQP_LOCKS_BROKER_LINES", "9.9", "PATH", "");

  @Test
  void withoutAServerTestsAreSkippedAndSayWhy() {
    assertThatThrownBy(() -> ClusterOffer.find(NOTHING_INSTALLED))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("No RabbitMQ 4.3 or newer is installed");
  }

  @Test
  void orFailWhereBrokersAreRequired() {
    Map<String, String> required = new HashMap<>(NOTHING_INSTALLED);
    required.put("AMQP_LOCKS_BROKER_REQUIRED", "true");

    assertThatThrownBy(() -> ClusterOffer.find(required))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("No RabbitMQ 4.3 or newer is installed");
  }

  @Test
  void anOlderLineAloneIsNoWishForACluster() {
    Map<String, String> old =
        Map.of("AMQP_LOCKS_BROKER_LINES", "3.10", "AMQP_LOCKS_BROKER_REQUIRED", "true");

    assertThatThrownBy(() -> ClusterOffer.find(old))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("wanted are 3.10");
  }

  @Test
  void aLineThatIsNotWantedIsNotStarted() {
    Map<String, String> other =
        Map.of("AMQP_LOCKS_BROKER_LINES", "4.3", "AMQP_LOCKS_BROKER_REQUIRED", "true");

    assertThatThrownBy(() -> ClusterOffer.find(other, "3.10"))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("Wanted are 4.3");
  }

  @Test
  void aLineThatIsWantedAndMissingIsNamed() {
    assertThatThrownBy(() -> ClusterOffer.find(NOTHING_INSTALLED, "9.9"))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("No RabbitMQ 9.9 is installed");
  }

  @Test
  void anExternalBrokerIsNoCluster() {
    assertThatThrownBy(
            () -> ClusterOffer.find(Map.of("AMQP_LOCKS_BROKER_URI", "amqp://127.0.0.1:1")))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("not borrowed");
  }
}
