package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.AmqpLocksCustomizer;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import io.amqplocks.spring.internal.guard.GuardScanner;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.spring.internal.lifecycle.LeaseLostEventPublisher;
import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import io.amqplocks.spring.internal.metrics.LockGauges;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

class AmqpLocksAutoConfigurationTest {

  private final ApplicationContextRunner application = Contexts.withoutBroker();

  /** Finds auto-configurations as an application does. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  static class Reports {
    @MutexGuarded(name = "report")
    String write() {
      return "written";
    }
  }

  @Test
  void allBeansAreThereAndNothingConnects() {
    application.run(
        context -> {
          assertThat(context)
              .hasSingleBean(AmqpLocks.class)
              .hasSingleBean(LockTemplate.class)
              .hasSingleBean(GuardAdvisor.class)
              .hasSingleBean(LeaseLostEventPublisher.class)
              .hasSingleBean(LocksLifecycle.class)
              .hasSingleBean(LockMeters.class)
              .hasSingleBean(LockGauges.class)
              .hasBean("amqplocksHealthIndicator");
          assertThat(context.getBean(AmqpLocks.class).status().session())
              .isEqualTo(Session.NOT_OPENED);
        });
  }

  @Test
  void disabledMeansThatAnnotatedMethodsJustRun() {
    application
        .withPropertyValues("amqp-locks.enabled=false")
        .withBean(Reports.class)
        .run(
            context -> {
              assertThat(context)
                  .doesNotHaveBean(AmqpLocks.class)
                  .doesNotHaveBean(GuardAdvisor.class)
                  .doesNotHaveBean(LockMeters.class)
                  .doesNotHaveBean(AmqpLocksHealthIndicator.class);
              assertThat(context.getBean(Reports.class).write()).isEqualTo("written");
            });
  }

  /** Spring Boot's own condition takes these for neither true nor false: nothing would guard. */
  @ParameterizedTest
  @ValueSource(strings = {"1", "yes", "ON", "true "})
  void enabledIsReadAsOtherPropertiesAre(String enabled) {
    application
        .withInitializer(
            context ->
                context
                    .getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("t", Map.of("amqp-locks.enabled", enabled))))
        .withBean(Reports.class)
        .run(
            context -> {
              assertThat(context).hasSingleBean(GuardAdvisor.class);
              assertThat(AopUtils.isAopProxy(context.getBean(Reports.class))).isTrue();
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "no", "off"})
  void soIsDisabled(String disabled) {
    application
        .withConfiguration(AutoConfigurations.of(AmqpLocksDisabledAutoConfiguration.class))
        .withPropertyValues("amqp-locks.enabled=" + disabled)
        .run(
            context ->
                assertThat(context)
                    .doesNotHaveBean(AmqpLocks.class)
                    .hasBean("amqpLocksResolver")
                    .hasSingleBean(LockTemplate.class));
  }

  @Test
  void anotherWordEndsTheStart() {
    application
        .withPropertyValues("amqp-locks.enabled=ture")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("Invalid boolean value 'ture'"));
    application
        .withPropertyValues("amqp-locks.enabled=")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("The property amqp-locks.enabled is empty"));
  }

  @Test
  void anApplicationFindsIt() {
    new ApplicationContextRunner()
        .withUserConfiguration(Application.class)
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(LockTemplate.class)
                    .hasSingleBean(AmqpLocksHealthIndicator.class)
                    .hasSingleBean(LockMeters.class));
  }

  @Test
  void annotatedBeansGetAProxy() {
    application
        .withBean(Reports.class)
        .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Reports.class))).isTrue());
  }

  @Test
  void alsoWhereNobodyElseAsksForProxies() {
    application
        .withPropertyValues("spring.aop.auto=false")
        .withBean(Reports.class)
        .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Reports.class))).isTrue());
  }

  /** Drags a bean into its own creation, which comes before proxies are made. */
  static class TooEarly implements BeanFactoryPostProcessor {
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
      assertThat(beans.getBean(Reports.class)).isNotNull();
    }
  }

  @Test
  void anAnnotatedBeanWithoutAProxyStopsTheStart() {
    application
        .withBean("reports", Reports.class)
        .withBean(TooEarly.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining("The bean 'reports' of " + Reports.class.getName())
                    .hasMessageContaining("has guarded methods but no proxy that guards them"));
  }

  @Test
  void butAMockInItsPlaceDoesNot() {
    application
        .withInitializer(
            context ->
                context.getBeanFactory().registerSingleton("reports", Mockito.mock(Reports.class)))
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(Reports.class));
  }

  @Test
  void theApplicationsOwnLocksWin() {
    try (AmqpLocks own = AmqpLocks.builder(new ConnectionFactory()).build()) {
      application
          .withBean("own", AmqpLocks.class, () -> own)
          .run(
              context -> {
                assertThat(context)
                    .hasSingleBean(AmqpLocks.class)
                    .hasSingleBean(LockTemplate.class);
                assertThat(context.getBean(AmqpLocks.class)).isSameAs(own);
                assertThat(context).doesNotHaveBean(BrokerSettings.class);
              });
    }
  }

  @Test
  void everyOtherBeanOfTheApplicationWinsToo() {
    LockCatalog catalog = new LockCatalog(Duration.ofSeconds(1));
    GuardedMethods methods = new GuardedMethods(catalog, text -> text, null);
    application
        .withBean("a", LockCatalog.class, () -> catalog)
        .withBean("b", GuardedMethods.class, () -> methods)
        .withBean(
            "c", LeaseLostEventPublisher.class, () -> new LeaseLostEventPublisher(event -> {}))
        .withBean("amqplocksHealthIndicator", HealthIndicator.class, () -> () -> null)
        .run(
            context -> {
              for (Class<?> type :
                  new Class<?>[] {
                    LockCatalog.class,
                    GuardedMethods.class,
                    LeaseLostEventPublisher.class,
                    SemaphoreSetup.class,
                    GuardScanner.class
                  }) {
                assertThat(context).as(type.getSimpleName()).hasSingleBean(type);
              }
              assertThat(context).doesNotHaveBean(AmqpLocksHealthIndicator.class);
            });
  }

  @Test
  void customizersHaveTheLastWord() {
    AtomicBoolean asked = new AtomicBoolean();
    application
        .withBean(AmqpLocksCustomizer.class, () -> builder -> asked.set(true))
        .run(context -> assertThat(asked).isTrue());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"management.health.amqplocks.enabled", "management.health.defaults.enabled"})
  void healthCanBeSwitchedOff(String property) {
    application
        .withPropertyValues(property + "=false")
        .run(context -> assertThat(context).doesNotHaveBean("amqplocksHealthIndicator"));
  }
}
