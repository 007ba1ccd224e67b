package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.internal.endpoint.AmqpLocksEndpoint;
import io.amqplocks.spring.internal.endpoint.BrokerQueries;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** When there is an endpoint. */
class EndpointConditionsTest {

  private static final String EXPOSED = "management.endpoints.web.exposure.include=amqplocks";

  private final ApplicationContextRunner application =
      Contexts.withoutBroker()
          .withConfiguration(AutoConfigurations.of(AmqpLocksEndpointAutoConfiguration.class));

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    AmqpLocksAutoConfiguration.class,
    AmqpLocksEndpointAutoConfiguration.class
  })
  static class Bare {}

  @Test
  void whereItIsExposed() {
    application
        .withPropertyValues(EXPOSED)
        .run(context -> assertThat(context).hasSingleBean(AmqpLocksEndpoint.class));
    application.run(context -> assertThat(context).doesNotHaveBean(AmqpLocksEndpoint.class));
  }

  @ParameterizedTest
  @ValueSource(classes = {AmqpLocksEndpoint.class, BrokerQueries.class})
  <T> void aBeanOfTheApplicationTakesThePlaceOfOurs(Class<T> type) {
    ApplicationContextRunner complete = application.withPropertyValues(EXPOSED);
    AtomicReference<T> ours = new AtomicReference<>();
    complete.run(context -> ours.set(context.getBean(type)));
    T own = Objects.requireNonNull(ours.get());
    complete
        .withBean("own", type, () -> own)
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(type);
              assertThat(context.getBean(type)).isSameAs(own);
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "management.endpoint.amqplocks.access=NONE",
        "management.endpoints.access.max-permitted=NONE",
        "amqp-locks.enabled=false"
      })
  void notWhereItIsSwitchedOff(String property) {
    application
        .withPropertyValues(EXPOSED, property)
        .run(
            context -> assertThat(context).hasNotFailed().doesNotHaveBean(AmqpLocksEndpoint.class));
  }

  @Test
  void notWithoutActuator() {
    new ApplicationContextRunner()
        .withUserConfiguration(Bare.class)
        .withPropertyValues(EXPOSED)
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
        .withBean(
            "rabbitConnectionFactory",
            CachingConnectionFactory.class,
            () -> new CachingConnectionFactory("somehost"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("amqpLocksEndpoint"));
  }

  @Test
  void aWrongBoundIsExplained() {
    application
        .withPropertyValues(EXPOSED, "management.endpoint.amqplocks.timeout=0s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("management.endpoint.amqplocks.timeout must be more"));
  }
}
