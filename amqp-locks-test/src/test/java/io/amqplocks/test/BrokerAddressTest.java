package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class BrokerAddressTest {

  @Test
  void tellsWhatItIs(Broker broker) throws Exception {
    assertThat(broker.uri())
        .isEqualTo("amqp://guest:guest@" + broker.host() + ":" + broker.port() + "/%2f");
    assertThat(broker.connectionFactory().isAutomaticRecoveryEnabled()).isFalse();
    try (Connection connection = broker.connectionFactory().newConnection()) {
      assertThat(broker.version())
          .hasToString(String.valueOf(connection.getServerProperties().get("version")));
    }
  }
}
