package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Address;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.Contexts;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.connection.SimpleRoutingConnectionFactory;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ApplicationBrokerSettingsTest {

  private final ApplicationContextRunner application = Contexts.withoutBroker();
  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(AmqpLocksAutoConfiguration.class));

  @Test
  void allAddressesOfACluster() {
    application
        .withPropertyValues(
            "spring.rabbitmq.addresses=amqp://u:p@one:1001/vh,two:1002,three",
            "spring.rabbitmq.connection-timeout=3s")
        .run(
            context -> {
              BrokerSettings settings = context.getBean(BrokerSettings.class);
              assertThat(settings.addresses().toString())
                  .isEqualTo("[one:1001, two:1002, three:5672]");
              assertThat(settings.factory().getUsername()).isEqualTo("u");
              assertThat(settings.factory().getVirtualHost()).isEqualTo("vh");
              assertThat(settings.factory().getConnectionTimeout()).isEqualTo(3000);
            });
  }

  @Test
  void tls() {
    application
        .withPropertyValues("spring.rabbitmq.ssl.enabled=true", "spring.rabbitmq.host=secure")
        .run(
            context -> {
              BrokerSettings settings = context.getBean(BrokerSettings.class);
              assertThat(settings.addresses()).hasToString("[secure:5671]");
              assertThat(settings.factory().isSSL()).isTrue();
            });
  }

  @Test
  void aConnectionFactoryOfTheApplicationCountsMoreThanTheProperties() {
    application
        .withPropertyValues("spring.rabbitmq.addresses=one:1001,two:1002")
        .withBean(CachingConnectionFactory.class, () -> new CachingConnectionFactory("mine", 4711))
        .run(
            context ->
                assertThat(context.getBean(BrokerSettings.class).addresses())
                    .hasToString("[mine:4711]"));
  }

  private static CachingConnectionFactory ofTheApplication() {
    CachingConnectionFactory factory = new CachingConnectionFactory();
    factory.setAddresses("mine:4711,other");
    return factory;
  }

  @Test
  void theAddressesOfAConnectionFactoryOfTheApplication() {
    application
        .withBean(CachingConnectionFactory.class, ApplicationBrokerSettingsTest::ofTheApplication)
        .run(
            context ->
                assertThat(context.getBean(BrokerSettings.class).addresses())
                    .hasToString("[mine:4711, other]"));
  }

  @Test
  void anAddressResolverOfTheApplication() {
    CachingConnectionFactory factory = ofTheApplication();
    factory.setAddressResolver(() -> List.of(new Address("resolved", 4712)));
    application
        .withBean(CachingConnectionFactory.class, () -> factory)
        .run(
            context ->
                assertThat(context.getBean(BrokerSettings.class).addresses())
                    .hasToString("[resolved:4712]"));
  }

  @Test
  void anAddressResolverThatFails() {
    CachingConnectionFactory factory = new CachingConnectionFactory();
    factory.setAddressResolver(
        () -> {
          throw new UnknownHostException("nowhere");
        });
    application
        .withBean(CachingConnectionFactory.class, () -> factory)
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasStackTraceContaining("cannot be resolved: ")
                    .hasStackTraceContaining("nowhere")
                    .hasStackTraceContaining("BrokerSettings"));
  }

  /** As tools for tracing make them. */
  @Test
  void aConnectionFactoryBehindProxies() {
    bare.withBean(ConnectionFactory.class, () -> proxy(proxy(ofTheApplication())))
        .run(
            context ->
                assertThat(context.getBean(BrokerSettings.class).addresses())
                    .hasToString("[mine:4711, other]"));
  }

  private static ConnectionFactory proxy(ConnectionFactory target) {
    ProxyFactory proxy =
        new ProxyFactory(ConnectionFactory.class, new SingletonTargetSource(target));
    return (ConnectionFactory) proxy.getProxy();
  }

  @Test
  void noConnectionFactory() {
    bare.run(
        context ->
            assertThat(context)
                .hasFailed()
                .getFailure()
                .rootCause()
                .hasMessageContaining("no bean of type " + ConnectionFactory.class.getName())
                .hasMessageContaining("amqp-locks.enabled=false"));
  }

  @Test
  void severalConnectionFactories() {
    bare.withBean("a", CachingConnectionFactory.class, () -> new CachingConnectionFactory("a"))
        .withBean("b", CachingConnectionFactory.class, () -> new CachingConnectionFactory("b"))
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("several beans of type")
                    .hasMessageContaining("BrokerSettings"));
  }

  @Test
  void aConnectionFactoryWithoutSettings() {
    SimpleRoutingConnectionFactory routing = new SimpleRoutingConnectionFactory();
    routing.setDefaultTargetConnectionFactory(new CachingConnectionFactory("somehost"));
    bare.withBean(ConnectionFactory.class, () -> routing)
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("cannot read the settings of a connection factory"));
  }
}
