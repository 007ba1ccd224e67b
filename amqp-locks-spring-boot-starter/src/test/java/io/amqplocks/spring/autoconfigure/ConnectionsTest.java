package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.impl.CredentialsProvider;
import com.rabbitmq.client.impl.DefaultCredentialsProvider;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.boot.amqp.autoconfigure.RabbitConnectionDetails;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** What configures the application's connections configures those of the locks. */
@BrokerTest
class ConnectionsTest {

  private static final String USER = "locks-only";

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private final ApplicationContextRunner application;

  ConnectionsTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    application = onBroker.application();
  }

  private void locksWork(AssertableApplicationContext context) {
    assertThat(context).hasNotFailed();
    assertThat(context.getBean(LockTemplate.class).mutex(onBroker.name()).execute(onBroker::queues))
        .contains(onBroker.mutexQueue());
  }

  @Test
  void theNextAddressIfTheFirstDoesNotAnswer() {
    try (TcpProxy dead = TcpProxy.to(broker)) {
      dead.refuse(true);
      application
          .withPropertyValues(
              "spring.rabbitmq.addresses=%s:%d,%s:%d"
                  .formatted(dead.host(), dead.port(), broker.host(), broker.port()))
          .run(this::locksWork);
    }
  }

  /** By the heartbeats alone it would be held for 17.5 s. */
  @Test
  void aSilentBrokerIsBelievedNoLongerThanThePropertySays() {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      application
          .withPropertyValues(
              "spring.rabbitmq.host=" + proxy.host(),
              "spring.rabbitmq.port=" + proxy.port(),
              "amqp-locks.certain-for=1s")
          .run(
              context -> {
                AmqpLocks locks = context.getBean(AmqpLocks.class);
                Lease lease = locks.mutex(onBroker.name()).acquire(Duration.ofSeconds(20));
                proxy.blackHole(Direction.BOTH);
                await()
                    .atMost(Duration.ofSeconds(14))
                    .until(() -> lease.state() == LeaseState.UNCERTAIN);
                proxy.heal();
                proxy.cut();
              });
    }
  }

  /** As a service connection or Docker Compose support would define it. */
  @Test
  void connectionDetails() {
    RabbitConnectionDetails details =
        new RabbitConnectionDetails() {
          @Override
          public String getUsername() {
            return broker.connectionFactory().getUsername();
          }

          @Override
          public String getPassword() {
            return broker.connectionFactory().getPassword();
          }

          @Override
          public List<Address> getAddresses() {
            return List.of(new Address(broker.host(), broker.port()));
          }
        };
    nowhere().withBean(RabbitConnectionDetails.class, () -> details).run(this::locksWork);
  }

  private ApplicationContextRunner nowhere() {
    return application.withPropertyValues(
        "spring.rabbitmq.host=nowhere.invalid", "spring.rabbitmq.password=wrong");
  }

  @Test
  void aCredentialsProvider() {
    broker.faults().addUser(USER, "secret", ".*", ".*", ".*");
    application
        .withPropertyValues("spring.rabbitmq.password=wrong")
        .withBean(CredentialsProvider.class, () -> new DefaultCredentialsProvider(USER, "secret"))
        .run(this::locksWork);
  }

  @Test
  void aCustomizer() {
    application
        .withPropertyValues("spring.rabbitmq.password=wrong")
        .withBean(
            ConnectionFactoryCustomizer.class,
            () ->
                // Not the host: Boot gives its connection factory addresses, which count more.
                factory -> factory.setPassword(broker.connectionFactory().getPassword()))
        .run(this::locksWork);
  }

  @Test
  void theVirtualHost() {
    application
        .withPropertyValues("spring.rabbitmq.virtual-host=no-such")
        .withPropertyValues("amqp-locks.semaphores." + onBroker.name() + ".slots=1")
        .run(
            context ->
                assertThat(context).hasFailed().getFailure().hasStackTraceContaining("no-such"));
  }

  /** Two brokers; the locks are to use the one that the rest of the application does not. */
  @Configuration(proxyBeanMethods = false)
  static class TwoBrokers {
    @Bean
    @Primary
    CachingConnectionFactory orders() {
      return new CachingConnectionFactory("orders.invalid");
    }

    @Bean
    @Qualifier("coordination")
    CachingConnectionFactory other() {
      return new CachingConnectionFactory("other.invalid", 4711);
    }
  }

  @Test
  void ofSeveralConnectionFactoriesTheNamedOne() {
    for (String name : List.of("other", "coordination")) {
      application
          .withUserConfiguration(TwoBrokers.class)
          .withPropertyValues("amqp-locks.connection-factory=" + name)
          .run(
              context ->
                  assertThat(context.getBean(BrokerSettings.class).addresses())
                      .hasToString("[other.invalid:4711]"));
    }
  }

  @Test
  void aConnectionFactoryThatIsNotThere() {
    application
        .withUserConfiguration(TwoBrokers.class)
        .withPropertyValues("amqp-locks.connection-factory=orderz")
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasStackTraceContaining("Name one of these: orders, other."));
  }
}
