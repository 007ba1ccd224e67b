package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockResolver;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import io.amqplocks.spring.internal.guard.GuardScanner;
import io.amqplocks.spring.internal.guard.check.LifecycleMethodCheck;
import io.amqplocks.spring.internal.guard.check.MissingSemaphores;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.spring.internal.lifecycle.LeaseLostEventPublisher;
import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import io.amqplocks.spring.internal.metrics.LockGauges;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** When which bean is there. */
class ConditionsTest {

  private static final String NAMED = "amqp-locks.mutexes.report";

  private final ApplicationContextRunner application = Contexts.withoutBroker();

  @ParameterizedTest
  @ValueSource(
      classes = {
        LockCatalog.class,
        BrokerSettings.class,
        AmqpLocks.class,
        SemaphoreSetup.class,
        LockResolver.class,
        LockTemplate.class,
        LeaseLostEventPublisher.class,
        LocksLifecycle.class,
        GuardedMethods.class,
        GuardAdvisor.class,
        GuardScanner.class,
        MissingSemaphores.class,
        LifecycleMethodCheck.class,
        LockMeters.class,
        LockGauges.class
      })
  <T> void aBeanOfTheApplicationTakesThePlaceOfOurs(Class<T> type) {
    AtomicReference<T> ours = new AtomicReference<>();
    application.run(context -> ours.set(context.getBean(type)));
    T own = Objects.requireNonNull(ours.get());
    application
        .withBean("own", type, () -> own)
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(type);
              assertThat(context.getBean(type)).isSameAs(own);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"amqplocksHealthIndicator", "amqplocksHealthContributor"})
  void aHealthContributorOfThatNameTakesThePlaceOfOurs(String bean) {
    application
        .withBean(bean, HealthIndicator.class, () -> () -> Health.up().build())
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasBean(bean)
                    .doesNotHaveBean(AmqpLocksHealthIndicator.class));
  }

  @Test
  void locksOfTheApplicationAloneHaveNoHealthAndDoNotStopTheStart() {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                HealthContributorAutoConfiguration.class,
                HealthContributorRegistryAutoConfiguration.class,
                AmqpLocksHealthContributorAutoConfiguration.class))
        .withBean(AmqpLocks.class, () -> AmqpLocks.builder(new ConnectionFactory()).build())
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(AmqpLocks.class)
                    .doesNotHaveBean(AmqpLocksHealthIndicator.class));
  }

  @Test
  void withoutSpringRabbitThereIsNothing() {
    application
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.amqp", "org.springframework.boot.amqp", "com.rabbitmq"))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean("amqpLocks")
                    .doesNotHaveBean(LockTemplate.class)
                    .doesNotHaveBean("amqplocksHealthIndicator"));
  }

  @Test
  void namedLocksAreThereForConfiguredNamesOnly() {
    application.run(context -> assertThat(context).doesNotHaveBean(LockHandle.class));
    application
        .withPropertyValues(NAMED + ".wait=1s")
        .run(context -> assertThat(context).hasBean(NAMED));
  }

  @Test
  void aBeanOfThatNameTakesThePlaceOfANamedLock() {
    LockHandle own = LockTemplate.withoutLocks().mutex("report");
    application
        .withPropertyValues(NAMED + ".wait=1s")
        .withBean(NAMED, LockHandle.class, () -> own)
        .run(context -> assertThat(context.getBean(NAMED)).isSameAs(own));
  }

  @Test
  void operationsOfTheApplicationsOwnTakeThePlaceOfTheTemplate() {
    LockOperations own = LockTemplate.withoutLocks();
    application
        .withBean("own", LockOperations.class, () -> own)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean("lockTemplate")
                    .getBean(LockOperations.class)
                    .isSameAs(own));
  }

  @Test
  void aResolverOfTheApplicationsOwnIsAskedByTheTemplateAndByNamedLocks() {
    application
        .withPropertyValues(NAMED + ".wait=1s")
        .withBean("own", LockResolver.class, LockResolver::withoutLocks)
        .run(
            context -> {
              LockHandle named = context.getBean(NAMED, LockHandle.class);
              assertThat(named.tryExecute(() -> {})).as("without a broker").isTrue();
              LockTemplate template = context.getBean(LockTemplate.class);
              assertThat(template.semaphore("images", "1").tryExecute(() -> {})).isTrue();
            });
  }
}
