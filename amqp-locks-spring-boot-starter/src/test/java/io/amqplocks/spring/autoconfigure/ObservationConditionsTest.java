package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.amqplocks.spring.internal.metrics.MeterDescriptions;
import io.amqplocks.spring.internal.metrics.ObservedMeters;
import io.amqplocks.spring.internal.observation.LockObservations;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

/** When locks are observed, and who times them then. */
class ObservationConditionsTest {

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    AmqpLocksAutoConfiguration.class,
    AmqpLocksObservationAutoConfiguration.class,
    AmqpLocksMetricsAutoConfiguration.class
  })
  static class Application {}

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withUserConfiguration(Application.class)
          .withBean(CachingConnectionFactory.class, () -> new CachingConnectionFactory("somehost"))
          .withPropertyValues("amqp-locks.mutexes.report.wait=1s");

  private static boolean isTimed(MeterRegistry registry) {
    return registry.find("amqp.locks.acquire").timer() != null;
  }

  private ApplicationContextRunner observed() {
    return application
        .withBean(ObservationRegistry.class, ObservationRegistry::create)
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(
            DefaultMeterObservationHandler.class,
            () -> new DefaultMeterObservationHandler(new SimpleMeterRegistry()));
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        LockObservations.class,
        ObservedMeters.class,
        MeterDescriptions.class,
        LockMeters.class
      })
  <T> void aBeanOfTheApplicationTakesThePlaceOfOurs(Class<T> type) {
    ApplicationContextRunner complete = observed();
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

  @Test
  void withTimersMadeOfObservations() {
    observed()
        .run(
            context -> {
              assertThat(context).hasSingleBean(LockObservations.class);
              assertThat(context).hasSingleBean(ObservedMeters.class);
              assertThat(isTimed(context.getBean(MeterRegistry.class))).isFalse();
            });
  }

  @Test
  void observationsThatNobodyMakesTimersOf() {
    application
        .withBean(ObservationRegistry.class, ObservationRegistry::create)
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              assertThat(context).hasSingleBean(LockObservations.class);
              assertThat(context).doesNotHaveBean(ObservedMeters.class);
              assertThat(isTimed(context.getBean(MeterRegistry.class))).isTrue();
            });
  }

  @Test
  void withoutOne() {
    application
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(LockObservations.class);
              assertThat(isTimed(context.getBean(MeterRegistry.class))).isTrue();
            });
  }

  @Test
  void withoutTheLibrary() {
    application
        .withClassLoader(new FilteredClassLoader("io.micrometer.observation"))
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(LockTemplate.class);
              assertThat(isTimed(context.getBean(MeterRegistry.class))).isTrue();
            });
  }
}
