package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Recoverable;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@BrokerTest
class ConnectorTest {

  /**
   * The client library has connections of two kinds, and one of them comes back by itself when it
   * broke, with the queues that it declared.
   */
  @Tag("trap-6")
  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true"})
  void aConnectionNeverComesBackByItself(boolean itself, boolean itsQueues, Broker broker)
      throws Exception {
    ConnectionFactory users = broker.connectionFactory();
    users.setAutomaticRecoveryEnabled(itself);
    users.setTopologyRecoveryEnabled(itsQueues);
    Duration bound = Duration.ofSeconds(5);
    Connector connector =
        new Connector(
            users,
            List.of(new Address(broker.host(), broker.port())),
            "connector",
            bound,
            bound,
            Thread::new);
    try (Connection connection = connector.open("test")) {
      assertThat(connection).isNotInstanceOf(Recoverable.class);
      assertThat(connection.getHeartbeat()).isEqualTo(5);
    }
    assertThat(users.isAutomaticRecoveryEnabled()).as("the user's own").isEqualTo(itself);
    assertThat(users.isTopologyRecoveryEnabled()).isEqualTo(itsQueues);
  }
}
