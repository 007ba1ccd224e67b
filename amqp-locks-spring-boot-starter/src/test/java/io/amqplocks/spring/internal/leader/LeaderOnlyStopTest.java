package io.amqplocks.spring.internal.leader;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.ContainerCustomizer;
import org.springframework.amqp.rabbit.listener.MissingQueueEvent;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** At the end of a term a container stops by itself, whoever else of its election still blocks. */
@BrokerTest(everyLine = true)
class LeaderOnlyStopTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private final String other;
  private Connection connection;
  private Channel channel;

  LeaderOnlyStopTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    other = onBroker.name() + ".other";
  }

  @BeforeEach
  void declare() throws Exception {
    connection = broker.connectionFactory().newConnection();
    channel = connection.createChannel();
    channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
    channel.queueDeclare(other, true, false, false, Map.of());
    channel.confirmSelect();
  }

  @AfterEach
  void delete() throws Exception {
    channel.queueDelete(onBroker.name());
    channel.queueDelete(other);
    connection.close();
  }

  private void publish(String queue) throws Exception {
    channel.basicPublish("", queue, null, new byte[0]);
    channel.waitForConfirmsOrDie(30_000);
  }

  private ApplicationContextRunner application(Class<?>... configurations) {
    return onBroker
        .application()
        .withPropertyValues("amqp-locks.shutdown-timeout=20s")
        .withUserConfiguration(configurations);
  }

  private static SimpleMessageListenerContainer container(
      ApplicationContext application, String id) {
    return (SimpleMessageListenerContainer)
        Objects.requireNonNull(
            application.getBean(RabbitListenerEndpointRegistry.class).getListenerContainer(id));
  }

  /** Handles until it may end. */
  static class Busy {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final AtomicInteger handled = new AtomicInteger();

    void handle() throws InterruptedException {
      entered.countDown();
      if (!mayEnd.await(60, TimeUnit.SECONDS)) {
        // No Error, by which Spring's container ends the JVM.
        throw new IllegalStateException("it has waited in vain");
      }
      handled.incrementAndGet();
    }
  }

  /** Handles at once. */
  static class Quick {
    private final AtomicInteger handled = new AtomicInteger();

    @RabbitListener(id = "quick", queues = "${test.lock}.other", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void handle(byte[] unused) {
      handled.incrementAndGet();
    }

    int handled() {
      return handled.get();
    }
  }

  static class One extends Busy {
    @RabbitListener(id = "one", queues = "${test.lock}", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void book(byte[] unused) throws InterruptedException {
      handle();
    }
  }

  static class Another extends Busy {
    @RabbitListener(id = "another", queues = "${test.lock}.other", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void book(byte[] unused) throws InterruptedException {
      handle();
    }
  }

  /** The stop of each takes as long as its handler. */
  @Configuration(proxyBeanMethods = false)
  static class TwoBusy {
    @Bean
    One one() {
      return new One();
    }

    @Bean
    Another another() {
      return new Another();
    }

    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> patience() {
      return container -> container.setShutdownTimeout(LONG.toMillis());
    }
  }

  @Test
  void atALossNoContainerWaitsForAnotherOnesHandler() {
    application(TwoBusy.class)
        .run(
            application -> {
              Busy one = application.getBean(One.class);
              Busy another = application.getBean(Another.class);
              publish(onBroker.name());
              publish(other);
              assertThat(one.entered.await(60, TimeUnit.SECONDS)).isTrue();
              assertThat(another.entered.await(60, TimeUnit.SECONDS)).isTrue();
              broker.faults().deleteQueue(onBroker.mutexQueue());
              try {
                for (String queue : List.of(onBroker.name(), other)) {
                  await().until(() -> channel.consumerCount(queue) == 0);
                  publish(queue);
                  assertThat(channel.messageCount(queue)).isOne();
                }
              } finally {
                one.mayEnd.countDown();
                another.mayEnd.countDown();
              }
              // In the next term of this process.
              await().until(() -> one.handled.get() == 2 && another.handled.get() == 2);
            });
  }

  /** Its sole handler is told first, and has time too. */
  @Configuration(proxyBeanMethods = false)
  static class BusyConsuming {
    @Bean
    Busy busy() {
      return new Busy();
    }

    @Bean
    SoleConsumer consumer(
        AmqpLocks locks, Broker broker, Busy busy, @Value("${test.lock}") String name) {
      return SoleConsumer.of(
              locks.mutex(name), broker.connectionFactory(), name, delivery -> busy.handle())
          .grace(LONG)
          .build();
    }

    @Bean
    Quick quick() {
      return new Quick();
    }
  }

  @Test
  void atALossAContainerDoesNotWaitForTheSoleConsumerOfItsName() {
    application(BusyConsuming.class)
        .withBean(Broker.class, () -> broker, definition -> definition.setDestroyMethodName(""))
        .run(
            application -> {
              Busy busy = application.getBean(Busy.class);
              Quick quick = application.getBean(Quick.class);
              publish(onBroker.name());
              publish(other);
              assertThat(busy.entered.await(60, TimeUnit.SECONDS)).isTrue();
              await().until(() -> quick.handled() == 1);
              broker.faults().deleteQueue(onBroker.mutexQueue());
              try {
                await().until(() -> !container(application, "quick").isRunning());
                publish(other);
                assertThat(channel.messageCount(other)).isOne();
                assertThat(quick.handled()).isOne();
              } finally {
                busy.mayEnd.countDown();
              }
              // In the next term of this process.
              await().until(() -> quick.handled() == 2);
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Missing {
    final CountDownLatch missed = new CountDownLatch(1);

    @Bean
    Quick quick() {
      return new Quick();
    }

    /** Its start asks for a queue that is not there, and asks again. */
    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> patience() {
      return container -> container.setFailedDeclarationRetryInterval(LONG.toMillis());
    }

    @EventListener
    void missed(MissingQueueEvent unused) {
      missed.countDown();
    }
  }

  @Test
  void aLossEndsAStartThatTakesLong() throws Exception {
    channel.queueDelete(other);
    application(Missing.class)
        .run(
            application -> {
              assertThat(application.getBean(Missing.class).missed.await(60, TimeUnit.SECONDS))
                  .isTrue();
              // It would look for it a minute later.
              channel.queueDeclare(other, true, false, false, Map.of());
              publish(other);
              broker.faults().deleteQueue(onBroker.mutexQueue());
              // In the next term of this process.
              await().until(() -> application.getBean(Quick.class).handled() == 1);
            });
  }

  /** The first message ends its consumer, and the second one's handler is busy by then. */
  static class Failing extends Busy {
    @RabbitListener(
        id = "failing",
        queues = "${test.lock}",
        autoStartup = "false",
        concurrency = "2")
    @LeaderOnly("${test.lock}")
    public void book(String message) throws InterruptedException {
      if (message.equals("busy")) {
        handle();
      } else {
        assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
        throw new AssertionError("for the test");
      }
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class FailingListening {
    @Bean
    Failing failing() {
      return new Failing();
    }

    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> patience() {
      return container -> {
        container.setPrefetchCount(1);
        container.setShutdownTimeout(LONG.toMillis());
        container.setJavaLangErrorHandler(error -> {}); // or it ends the JVM
      };
    }
  }

  /** A second stop returns at once, before the first one has ended. */
  @Test
  void theNextLeaderBeginsAfterAContainerThatStopsItselfHasStopped() {
    application(FailingListening.class)
        .run(
            application -> {
              Busy failing = application.getBean(Failing.class);
              SimpleMessageListenerContainer container = container(application, "failing");
              await().until(container::isRunning);
              channel.basicPublish("", onBroker.name(), null, "busy".getBytes(UTF_8));
              channel.basicPublish("", onBroker.name(), null, "fails".getBytes(UTF_8));
              await().until(() -> !container.isActive());
              try (AmqpLocks others = onBroker.stranger()) {
                CompletableFuture<Integer> handled =
                    CompletableFuture.supplyAsync(
                        () -> {
                          try (Lease unused = others.mutex(onBroker.name()).acquire(LONG)) {
                            return failing.handled.get();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                        });
                onBroker.awaitContenders(2);
                List<LeaderElection> elections = application.getBean(LeaderElections.class).all();
                assertThat(elections).hasSize(1);
                assertThat(elections.get(0).yieldLeadership()).isTrue();
                await()
                    .during(Duration.ofSeconds(1))
                    .until(() -> !handled.isDone() && failing.handled.get() == 0);
                failing.mayEnd.countDown();
                assertThat(handled.get(60, TimeUnit.SECONDS)).isOne();
              }
            });
  }
}
