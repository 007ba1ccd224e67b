package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@BrokerTest(everyLine = true)
class LifecycleLeaderListenerTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private Connection connection;
  private Channel channel;

  LifecycleLeaderListenerTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  @BeforeEach
  void declare() throws Exception {
    connection = broker.connectionFactory().newConnection();
    channel = connection.createChannel();
    channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
    channel.confirmSelect();
  }

  @AfterEach
  void delete() throws Exception {
    channel.queueDelete(onBroker.name());
    connection.close();
  }

  private void publish(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      channel.basicPublish(
          "", onBroker.name(), null, Integer.toString(i).getBytes(StandardCharsets.UTF_8));
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  @Configuration(proxyBeanMethods = false)
  static class Handling {
    final List<Integer> handled = new CopyOnWriteArrayList<>();

    @Bean
    SimpleMessageListenerContainer container(
        ConnectionFactory connections, @Value("${test.lock}") String queue) {
      SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connections);
      container.setQueueNames(queue);
      container.setAutoStartup(false);
      container.setShutdownTimeout(LONG.toMillis());
      container.setMessageListener(
          message ->
              handled.add(Integer.valueOf(new String(message.getBody(), StandardCharsets.UTF_8))));
      return container;
    }

    @Bean
    LeaderElection election(
        AmqpLocks locks,
        SimpleMessageListenerContainer container,
        @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name))
          .listener(new LifecycleLeaderListener(() -> container))
          .build();
    }

    List<Integer> handled() {
      return handled;
    }
  }

  private ApplicationContextRunner application() {
    return onBroker
        .application()
        .withPropertyValues("amqp-locks.shutdown-timeout=20s")
        .withUserConfiguration(Handling.class);
  }

  @Test
  void aContainerThatIsABeanRunsWhileItsProcessLeads() {
    application()
        .run(
            first -> {
              var firsts = first.getBean(SimpleMessageListenerContainer.class);
              await().until(firsts::isRunning);
              List<Integer> old = first.getBean(Handling.class).handled();
              application()
                  .run(
                      second -> {
                        var seconds = second.getBean(SimpleMessageListenerContainer.class);
                        List<Integer> next = second.getBean(Handling.class).handled();
                        publish(0, 50);
                        await().until(() -> old.size() == 50);
                        assertThat(seconds.isRunning()).isFalse();
                        assertThat(next).isEmpty();
                        // The first one stops with some of these unhandled.
                        publish(50, 100);
                        first.close();
                        assertThat(firsts.isRunning()).isFalse();
                        await().until(seconds::isRunning);
                        assertThat(second.getBean(LeaderElection.class).isLeader()).isTrue();
                        publish(100, 101);
                        await().until(() -> next.contains(100));
                        List<Integer> all = new ArrayList<>(old);
                        all.addAll(next);
                        assertThat(all)
                            .containsExactlyInAnyOrderElementsOf(
                                IntStream.range(0, 101).boxed().toList());
                      });
            });
  }

  private static final class Recorded implements Lifecycle {
    private volatile boolean running;

    @Override
    public void start() {
      running = true;
    }

    @Override
    public void stop() {
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }
  }

  @Test
  void whatHasALifecycleRunsWhileItsProcessLeads() throws Exception {
    Recorded recorded = new Recorded();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election =
            LeaderElection.on(locks.mutex(onBroker.name()))
                .listener(new LifecycleLeaderListener(() -> recorded))
                .build()) {
      assertThat(recorded.isRunning()).isFalse();
      election.start();
      assertThat(election.awaitLeadership(LONG)).isPresent();
      await().until(recorded::isRunning);
      election.close();
      assertThat(recorded.isRunning()).isFalse();
    }
  }
}
