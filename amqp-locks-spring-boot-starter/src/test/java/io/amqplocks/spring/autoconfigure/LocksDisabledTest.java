package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.metrics.LockGauges;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** {@code amqp-locks.enabled=false}: all works, and nothing is guarded. */
@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class LocksDisabledTest {

  private static final String WARNING = "amqp-locks.enabled is false";

  private final ApplicationContextRunner application =
      Contexts.withoutBroker()
          .withConfiguration(AutoConfigurations.of(AmqpLocksDisabledAutoConfiguration.class))
          .withPropertyValues(
              "amqp-locks.enabled=false",
              "amqp-locks.semaphores.images.slots=1",
              "spring.rabbitmq.host=nowhere.invalid");

  static class Uploads {
    @SemaphoreGuarded(name = "images", slots = 1)
    String upload() {
      return "done";
    }

    @WriteGuarded(name = "prices")
    String change() {
      return "changed";
    }
  }

  record Named(@Qualifier("images") LockHandle images) {}

  /** It would run without locks for ever, whatever its property says. */
  @Test
  void whatWasProcessedWithoutLocksAheadOfTimeDoesNotStartWithThem() {
    assertThatExceptionOfType(LockConfigurationException.class)
        .isThrownBy(() -> EnabledCondition.requireDisabled(new MockEnvironment()))
        .withMessageContaining("amqp-locks.enabled is not false")
        .withMessageContaining("ahead of time");
    EnabledCondition.requireDisabled(
        new MockEnvironment().withProperty("amqp-locks.enabled", "off"));
  }

  @Test
  void whoInjectsTheLocksThemselvesIsToldWhyTheyAreNotThere(CapturedOutput output) {
    assertThatExceptionOfType(BeanCreationException.class)
        .isThrownBy(
            () ->
                new SpringApplicationBuilder(NeedsLocks.class)
                    .web(WebApplicationType.NONE)
                    .run("--amqp-locks.enabled=false"));
    assertThat(output)
        .contains("there is none while amqp-locks.enabled is false")
        .contains("Inject LockTemplate or a LockHandle")
        .doesNotContain("Consider defining");
  }

  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    AmqpLocksAutoConfiguration.class,
    AmqpLocksDisabledAutoConfiguration.class
  })
  static class NeedsLocks {
    @Bean
    String name(AmqpLocks locks) {
      return locks.status().toString();
    }
  }

  @Test
  void aNumberOfPermitsThatNoLockHasIsRefused() {
    application.run(
        context -> {
          LockHandle images = context.getBean(LockTemplate.class).semaphore("images");
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> images.withPermits(0))
              .withMessageContaining("'images'");
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> images.withPermits(101));
        });
  }

  @Test
  void annotatedMethodsAndTheTemplateRunWithoutLocks(CapturedOutput output) {
    application
        .withBean(Uploads.class)
        .withBean(Named.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(AmqpLocks.class);
              Uploads uploads = context.getBean(Uploads.class);
              assertThat(AopUtils.isAopProxy(uploads)).isFalse();
              assertThat(uploads.upload()).isEqualTo("done");
              assertThat(uploads.change()).isEqualTo("changed");
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease writer = template.writeLock("prices").acquire()) {
                assertThat(template.readLock("prices").tryExecute(() -> {})).isTrue();
                assertThat(writer.lock()).isEqualTo(LockId.writeLock("prices"));
              }

              LockHandle images = context.getBean(LockTemplate.class).semaphore("images");
              try (Lease lease = images.withPriority(3).fenced().acquire()) {
                assertThat(images.tryExecute(() -> {})).isTrue();
                assertThat(images.execute(() -> "result")).isEqualTo("result");
                assertThat(
                        images
                            .executeAsync(
                                () -> CompletableFuture.completedFuture(Thread.currentThread()))
                            .join())
                    .as("as with locks")
                    .isNotSameAs(Thread.currentThread());
                context.getBean(Named.class).images().execute(() -> {});
                assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
                assertThatExceptionOfType(LockException.NotFenced.class)
                    .isThrownBy(lease::fencingToken)
                    .withMessageContaining("amqp-locks.enabled is false");
                lease.close();
                assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
              }
            });
    assertThat(output.getOut().split(WARNING, -1)).hasSize(2);
  }

  @Test
  void healthSaysThatThereIsNothingToCheck() {
    application.run(
        context -> {
          Health health =
              Objects.requireNonNull(
                  context.getBean("amqplocksHealthIndicator", HealthIndicator.class).health(true));
          assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
          assertThat(health.getDetails()).containsEntry("enabled", false);
        });
    application
        .withPropertyValues("management.health.amqplocks.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean("amqplocksHealthIndicator"));
  }

  /** Read as Boot reads it, without loading classes. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    AmqpLocksAutoConfiguration.class,
    AmqpLocksDisabledAutoConfiguration.class
  })
  static class Bare {}

  @Test
  void neitherRabbitMqNorActuatorIsNeeded() {
    new ApplicationContextRunner()
        .withClassLoader(
            new FilteredClassLoader("org.springframework.amqp", "org.springframework.boot.health"))
        .withUserConfiguration(Bare.class)
        .withPropertyValues("amqp-locks.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockTemplate.class));
  }

  /** It has meters of its own making then, or none: ours are of locks that are switched on. */
  @Test
  void anAmqpLocksOfTheApplicationsOwnIsNotInTheWay() {
    application
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(AmqpLocks.class, () -> AmqpLocks.builder(new ConnectionFactory()).build())
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(AmqpLocks.class)
                    .doesNotHaveBean(LockMeters.class)
                    .doesNotHaveBean(LockGauges.class));
  }

  @Test
  void theApplicationsOwnTemplateWins() {
    LockTemplate own = LockTemplate.withoutLocks();
    application
        .withBean(LockTemplate.class, () -> own)
        .run(context -> assertThat(context.getBean(LockTemplate.class)).isSameAs(own));
  }

  @Test
  void switchedOnThereIsNothingOfThis(CapturedOutput output) {
    application
        .withPropertyValues("amqp-locks.enabled=true", "spring.rabbitmq.host=127.0.0.1")
        .withPropertyValues("amqp-locks.semaphores.images.slots=")
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(AmqpLocks.class)
                    .doesNotHaveBean(AmqpLocksDisabledAutoConfiguration.class));
    assertThat(output).doesNotContain(WARNING);
  }
}
