package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.shedlock.AmqpLockProvider;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.integration.AmqpLockRegistry;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** When an application has a registry of locks and a provider without declaring one. */
class BridgeConditionsTest {

  private static final String NAME = "spring.application.name=orders";
  private static final String KEY = "amqp-locks.lock-registry.key";

  /** Its classes are read before they are loaded, as in an application. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    AmqpLockProviderAutoConfiguration.class,
    AmqpLockRegistryAutoConfiguration.class
  })
  static class Bridges {}

  private final ApplicationContextRunner application =
      Contexts.withoutBroker()
          .withConfiguration(
              AutoConfigurations.of(
                  AmqpLockProviderAutoConfiguration.class,
                  AmqpLockRegistryAutoConfiguration.class));

  /** Finds auto-configurations as an application does. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @Test
  void anApplicationFindsThem() {
    new ApplicationContextRunner()
        .withUserConfiguration(Application.class)
        .withPropertyValues(NAME)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(AmqpLockRegistry.class)
                    .hasSingleBean(AmqpLockProvider.class));
  }

  @Test
  void aBlankKeyIsNone() {
    application
        .withPropertyValues(NAME, KEY + "= ")
        .run(
            context ->
                assertThat(context.getBean(LockRegistry.class).obtain("key"))
                    .asString()
                    .contains("orders:key"));
  }

  /** The locks are not where those settings say, or nobody knows whether they are. */
  @Test
  void settingsOfABrokerDoNotMakeAProvider() {
    application
        .withPropertyValues(NAME)
        .withBean("own", AmqpLocks.class, () -> mock(AmqpLocks.class))
        .withBean(
            BrokerSettings.class,
            () -> new BrokerSettings(new ConnectionFactory(), List.of(new Address("localhost", 1))))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {NAME, KEY + "=orders"})
  void aNameIsEnough(String property) {
    application
        .withPropertyValues(property)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(AmqpLockRegistry.class)
                    .hasSingleBean(AmqpLockProvider.class));
  }

  @ParameterizedTest
  @ValueSource(strings = {"unset=", "spring.application.name=", KEY + "="})
  void withoutANameThereIsNoRegistryAndTheReportSaysWhy(String property) {
    application
        .withPropertyValues(property)
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(LockRegistry.class);
              assertThat(
                      ConditionEvaluationReport.get(context.getBeanFactory())
                          .getConditionAndOutcomesBySource()
                          .get(
                              AmqpLockRegistryAutoConfiguration.class.getName()
                                  + "#amqpLockRegistry"))
                  .anySatisfy(
                      outcome ->
                          assertThat(outcome.getOutcome().getMessage())
                              .contains(KEY)
                              .contains("spring.application.name"));
            });
  }

  @Test
  void beansOfTheApplicationTakeThePlaceOfOurs() {
    application
        .withPropertyValues(NAME)
        .withBean("ownRegistry", LockRegistry.class, () -> mock(LockRegistry.class))
        .withBean("ownProvider", LockProvider.class, () -> mock(LockProvider.class))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LockRegistry.class)
                    .hasSingleBean(LockProvider.class)
                    .doesNotHaveBean(AmqpLockRegistry.class)
                    .doesNotHaveBean(AmqpLockProvider.class));
  }

  /** It is no provider of its own. */
  @Test
  void aWrapperThatKeepsLocksAliveWrapsOursOrThatOfTheApplication() {
    ApplicationContextRunner wrapping =
        application
            .withPropertyValues(NAME)
            .withBean(
                KeepAliveLockProvider.class,
                () ->
                    new KeepAliveLockProvider(
                        mock(ExtensibleLockProvider.class), mock(ScheduledExecutorService.class)));
    wrapping.run(
        context -> {
          assertThat(context).hasSingleBean(AmqpLockProvider.class);
          assertThat(context.getBean(LockProvider.class)).isInstanceOf(KeepAliveLockProvider.class);
        });
    wrapping
        .withBean("own", ExtensibleLockProvider.class, () -> mock(ExtensibleLockProvider.class))
        .run(context -> assertThat(context).doesNotHaveBean(AmqpLockProvider.class));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "io.amqplocks.spring.integration",
        "io.amqplocks.shedlock",
        "org.springframework.integration",
        "net.javacrumbs.shedlock"
      })
  void withoutOneOfTheirClassesTheOtherIsStillThere(String missing) {
    boolean registryStays = missing.contains("shedlock");
    Contexts.withoutBroker()
        .withUserConfiguration(Bridges.class)
        .withPropertyValues(NAME)
        .withClassLoader(new FilteredClassLoader(missing))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(LockTemplate.class)
                    .satisfies(
                        there ->
                            assertThat(there.containsBean("amqpLockRegistry"))
                                .isEqualTo(registryStays),
                        there ->
                            assertThat(there.containsBean("amqpLockProvider"))
                                .isNotEqualTo(registryStays)));
  }

  @Test
  void springIntegration6HasNoRegistryOfOurs() {
    Contexts.withoutBroker()
        .withUserConfiguration(Bridges.class)
        .withPropertyValues(NAME)
        .withClassLoader(new FilteredClassLoader(DistributedLock.class))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("amqpLockRegistry"));
  }

  @Test
  void locksThatAreSwitchedOffHaveNoBridges() {
    application
        .withPropertyValues(NAME, "amqp-locks.enabled=false")
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(LockRegistry.class)
                    .doesNotHaveBean(LockProvider.class));
  }

  @Test
  void locksOfTheApplicationsOwnHaveARegistryAndNoProvider() {
    application
        .withPropertyValues(NAME)
        .withBean("own", AmqpLocks.class, () -> mock(AmqpLocks.class))
        .run(
            context ->
                assertThat(context)
                    .doesNotHaveBean(BrokerSettings.class)
                    .hasSingleBean(LockRegistry.class)
                    .doesNotHaveBean(LockProvider.class));
  }

  @ParameterizedTest
  @CsvSource({
    "'spring.application.name=a:b', colon",
    KEY + "=a:b, colon",
    "'amqp-locks.lock-registry.longest-wait=-1s', wait"
  })
  void badSettingsAreNamed(String property, String reason) {
    FailureAnalysis analysis = StartFailures.of(application, NAME, property);
    assertThat(analysis.getDescription()).containsIgnoringCase(reason);
    assertThat(analysis.getAction()).contains(KEY, "longest-wait");
  }
}
