package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Leadership;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What one consumer on a channel leaves at the broker. */
@BrokerTest
class QueueSubscriptionTest {

  private static final int MESSAGES = 5;

  @RegisterExtension private final Fixture fixture = new Fixture();

  /** The client's thread that calls consumers may be late with what the broker has sent. */
  @Tag("trap-8")
  @Test
  void aMessageThatIsNotInTheBufferYetGoesBackUncounted() throws Exception {
    goesBackUncounted((channel, queue, term) -> new QueueSubscription(channel, queue, term));
  }

  /** The same of its tracking queue. */
  @Tag("trap-8")
  @Test
  void withAnActiveQueueItGoesBackUncountedToo() throws Exception {
    String ingress = fixture.prefix() + "ingress";
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.exchangeDeclare(ingress, BuiltinExchangeType.TOPIC, true);
      try {
        goesBackUncounted(
            (open, queue, term) ->
                Subscription.begin(
                    open,
                    SoleConsumer.of(
                            fixture.open().mutex("other"),
                            fixture.broker().connectionFactory(),
                            queue,
                            delivery -> {})
                        .activeQueue(ingress, "#"),
                    term,
                    new HandledIds()));
      } finally {
        channel.exchangeDelete(ingress);
      }
    }
  }

  @FunctionalInterface
  private interface Beginning {
    Subscription of(Channel channel, String queue, Leadership term) throws IOException;
  }

  private void goesBackUncounted(Beginning beginning) throws Exception {
    String queue = fixture.prefix() + "numbers";
    ExecutorService calls = Executors.newSingleThreadExecutor();
    CountDownLatch mayCall = new CountDownLatch(1);
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setSharedExecutor(calls);
    try (Connection stranger = fixture.stranger();
        Connection consuming = factory.newConnection();
        LeaderElection election = LeaderElection.on(fixture.open().mutex("sole")).build()) {
      Channel channel = stranger.createChannel();
      channel.confirmSelect();
      channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
      for (int i = 0; i < MESSAGES; i++) {
        channel.basicPublish("", queue, null, new byte[0]);
      }
      channel.waitForConfirmsOrDie(30_000);
      election.start();
      Leadership term = election.awaitLeadership(Duration.ofSeconds(60)).orElseThrow();
      calls.execute(() -> await().until(() -> mayCall.getCount() == 0));
      Subscription subscription = beginning.of(consuming.createChannel(), queue, term);
      await().until(() -> channel.messageCount(queue) == 0);
      assertThat(subscription.next(1)).isNull();
      subscription.close();
      await().until(() -> channel.messageCount(queue) == MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        GetResponse message = channel.basicGet(queue, true);
        assertThat(message.getProps().getHeaders())
            .as("failed deliveries")
            .satisfiesAnyOf(
                headers -> assertThat(headers).isNull(),
                headers -> assertThat(headers.get("x-delivery-count")).isIn(null, 0L));
      }
    } finally {
      mayCall.countDown();
      calls.shutdown();
    }
  }
}
