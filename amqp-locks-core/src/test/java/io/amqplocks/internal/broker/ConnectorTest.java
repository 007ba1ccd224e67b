package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Recoverable;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@BrokerTest
class ConnectorTest {

  private static final Duration BOUND = Duration.ofSeconds(5);

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
    try (Connection connection = connector(users, broker).open("test")) {
      assertThat(connection).isNotInstanceOf(Recoverable.class);
      assertThat(connection.getHeartbeat()).isEqualTo(5);
    }
    assertThat(users.isAutomaticRecoveryEnabled()).as("the user's own").isEqualTo(itself);
    assertThat(users.isTopologyRecoveryEnabled()).isEqualTo(itsQueues);
  }

  /** The broker tells only clients that say they understand it. */
  @Test
  void anEndedConsumerIsToldThoughTheApplicationReplacedAllClientProperties(Broker broker)
      throws Exception {
    ConnectionFactory users = broker.connectionFactory();
    users.setClientProperties(Map.of("product", "shop"));
    try (Connection connection = connector(users, broker).open("test")) {
      assertThat(connection.getClientProperties()).containsEntry("product", "shop");
      Channel channel = connection.createChannel();
      String queue = channel.queueDeclare().getQueue();
      CompletableFuture<String> cancelled = new CompletableFuture<>();
      String tag = channel.basicConsume(queue, (same, message) -> {}, cancelled::complete);
      connection.createChannel().queueDelete(queue);
      assertThat(cancelled.get(30, TimeUnit.SECONDS)).isEqualTo(tag);
    }
    assertThat(users.getClientProperties()).as("the user's own").hasSize(1);
  }

  private static Connector connector(ConnectionFactory users, Broker broker) {
    return new Connector(
        users,
        List.of(new Address(broker.host(), broker.port())),
        "connector",
        BOUND,
        BOUND,
        Thread::new);
  }
}
