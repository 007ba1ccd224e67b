package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DeliverCallback;
import com.rabbitmq.client.Envelope;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the broker is told, on a channel that says so and is slow. */
@BrokerTest(everyLine = true)
class ActiveQueueSubscriptionTest {

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final List<DeliverCallback> consumers = new CopyOnWriteArrayList<>();
  private final CountDownLatch writes = new CountDownLatch(1);

  /** One that writes the first acknowledgement late. */
  private Channel channel(Connection connection) {
    return (Channel)
        Proxy.newProxyInstance(
            Channel.class.getClassLoader(),
            new Class<?>[] {Channel.class},
            (proxy, called, arguments) ->
                switch (called.getName()) {
                  case "getConnection" -> connection;
                  case "messageCount" -> 0L;
                  case "isOpen" -> true;
                  case "basicConsume" -> {
                    consumers.add((DeliverCallback) arguments[6]);
                    yield "tag";
                  }
                  case "basicAck" -> {
                    told.add("ack " + arguments[0]);
                    yield arguments[0].equals(1L) && writes.await(60, TimeUnit.SECONDS);
                  }
                  case "basicNack" -> told.add("nack " + arguments[0]);
                  default -> null;
                });
  }

  /** The next consumer would handle it again, though this one stopped politely. */
  @Test
  void whatWasHandledIsAcknowledgedBeforeTheRestGoesBack() throws Exception {
    HandledIds handled = new HandledIds();
    handled.add("a", false);
    handled.add("b", false);
    try (Connection connection = fixture.stranger();
        LeaderElection election = LeaderElection.on(fixture.open().mutex("sole")).build()) {
      election.start();
      ActiveQueueSubscription subscription =
          new ActiveQueueSubscription(
              channel(connection),
              SoleConsumer.of(
                      fixture.open().mutex("other"),
                      fixture.broker().connectionFactory(),
                      "queue",
                      delivery -> {})
                  .activeQueue("ingress", "#"),
              election.awaitLeadership(Duration.ofSeconds(60)).orElseThrow(),
              handled);
      DeliverCallback tracking = consumers.get(1);
      Thread one = started(() -> tracking.handle("tag", message(1, "a")));
      await().until(() -> told.contains("ack 1"));
      Thread closing = started(subscription::close);
      awaitWaiting(closing);
      Thread two = started(() -> tracking.handle("tag", message(2, "b")));
      awaitWaiting(two);
      writes.countDown();
      for (Thread each : List.of(one, closing, two)) {
        each.join();
      }
      assertThat(told).startsWith("ack 1", "ack 2");
      // Elsewhere, what is left goes back with the channel.
      boolean nacks = BrokerProfile.of(connection).nackKeepsPlace();
      assertThat(told.subList(2, told.size())).isEqualTo(nacks ? List.of("nack 0") : List.of());
    }
  }

  private static com.rabbitmq.client.Delivery message(long tag, String id) {
    return new com.rabbitmq.client.Delivery(
        new Envelope(tag, false, "ingress", "key"),
        new BasicProperties.Builder().messageId(id).build(),
        new byte[0]);
  }

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  private static Thread started(Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                step.run();
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    thread.start();
    return thread;
  }

  private static void awaitWaiting(Thread thread) {
    await().until(() -> thread.getState() == Thread.State.WAITING);
  }
}
