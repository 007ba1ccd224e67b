package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class BrokerAddressTest {

  @Test
  void tellsWhatItIs(Broker broker) throws Exception {
    ConnectionFactory named = new ConnectionFactory();
    named.setUri(broker.uri());
    assertThat(named.getHost()).isEqualTo(broker.host());
    assertThat(named.getPort()).isEqualTo(broker.port());
    assertThat(broker.connectionFactory().isAutomaticRecoveryEnabled()).isFalse();
    try (Connection connection = broker.connectionFactory().newConnection()) {
      assertThat(broker.version())
          .hasToString(String.valueOf(connection.getServerProperties().get("version")));
    }
  }
}
