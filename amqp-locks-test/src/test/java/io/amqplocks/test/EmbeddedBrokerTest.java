package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.PrimitiveIterator;
import org.junit.jupiter.api.Test;

class EmbeddedBrokerTest {

  private static final Duration SOON = Duration.ofSeconds(30);

  @Test
  void aTakenPortIsAnErrorAlsoIfABrokerListensThere() {
    try (EmbeddedBroker stranger = EmbeddedBroker.start()) {
      assertThatThrownBy(() -> EmbeddedBroker.start(stranger::port).close())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("port " + stranger.port() + ": eaddrinuse");
    }
  }

  @Test
  void afterATakenPortItStartsOnAnother() {
    try (EmbeddedBroker stranger = EmbeddedBroker.start()) {
      int free = FreePorts.next();
      PrimitiveIterator.OfInt ports =
          List.of(stranger.port(), free).stream().mapToInt(Integer::intValue).iterator();
      try (EmbeddedBroker broker = EmbeddedBroker.start(ports::nextInt)) {
        assertThat(broker.port()).isEqualTo(free);
        assertThat(Address.of("127.0.0.1", free).awaitVersion(SOON)).isEqualTo(broker.version());
      }
      // The failed start took nothing away from it.
      assertThat(Address.of("127.0.0.1", stranger.port()).awaitVersion(SOON))
          .isEqualTo(stranger.version());
    }
  }
}
