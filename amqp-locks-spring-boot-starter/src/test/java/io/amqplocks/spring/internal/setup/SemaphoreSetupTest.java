package io.amqplocks.spring.internal.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@BrokerTest(everyLine = true)
@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class SemaphoreSetupTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final ApplicationContextRunner application;

  SemaphoreSetupTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application = onBroker.application();
  }

  static class Uploads {
    @SemaphoreGuarded(name = "${test.lock}", slots = 4)
    void upload() {}
  }

  /** Hides what it is made of. */
  interface Uploading {
    void upload();
  }

  @Test
  void anAnnotationsSlotsAreCreatedAtStartup(CapturedOutput output) {
    application.withBean(Uploads.class).run(context -> assertThat(onBroker.tokens()).isEqualTo(4));
    assertThat(output)
        .containsPattern("INFO.*token semaphore '" + name + "' was created with 4 slots");
  }

  @ParameterizedTest
  @EnumSource(
      value = SemaphoreAlgorithm.class,
      names = {"SLOTS", "TOKENS"})
  void aSecondStartSaysThatTheSemaphoreExists(SemaphoreAlgorithm algorithm, CapturedOutput output) {
    ApplicationContextRunner configured =
        application
            .withPropertyValues("amqp-locks.semaphores." + name + ".algorithm=" + algorithm)
            .withBean(Uploads.class);
    configured.run(context -> assertThat(context).hasNotFailed());
    String first = output.getAll();
    configured.run(context -> assertThat(context).hasNotFailed());
    assertThat(first)
        .containsPattern("INFO.* semaphore '" + name + "' was created with 4 slots, as configured")
        .doesNotContain("' exists with");
    assertThat(output.getAll().substring(first.length()))
        .containsPattern("INFO.* semaphore '" + name + "' exists with 4 slots, as configured")
        .doesNotContain("was created");
  }

  @Test
  void aLazyBeansTooAndItStaysUncreated() {
    application
        .withBean(
            "uploads", Uploads.class, Uploads::new, definition -> definition.setLazyInit(true))
        .run(
            context -> {
              assertThat(onBroker.tokens()).isEqualTo(4);
              assertThat(context.getSourceApplicationContext().getBeanFactory())
                  .satisfies(beans -> assertThat(beans.containsSingleton("uploads")).isFalse());
            });
  }

  @Test
  void aPropertysSlotsAreCreatedAtStartupAndOverrideTheAnnotation() {
    application
        .withPropertyValues("amqp-locks.semaphores." + name + ".slots=2")
        .withBean(Uploads.class)
        .run(context -> assertThat(onBroker.tokens()).isEqualTo(2));
  }

  @Test
  void keysThatComeAndGoAreNotRememberedForEver() {
    application
        .withPropertyValues("amqp-locks.semaphores." + name + ".slots=2")
        .run(
            context -> {
              SemaphoreSetup setup =
                  new SemaphoreSetup(
                      context.getBean(AmqpLocks.class).admin(),
                      context.getBean(LockCatalog.class),
                      Optional::empty,
                      3);
              setup.ensure(LockId.tokenSemaphore(name));
              for (int key = 0; key < 5; key++) {
                LockId keyed = LockId.tokenSemaphore(name + ":" + key);
                setup.ensure(keyed);
                assertThat(setup.slots(keyed)).hasValue(2);
                assertThat(setup.remembered()).isLessThanOrEqualTo(3);
              }
              assertThat(setup.slots(LockId.tokenSemaphore(name)))
                  .as("the semaphore without a key")
                  .hasValue(2);
            });
  }

  @Test
  void anExistingSemaphoreIsAdoptedWithAWarning(CapturedOutput output) {
    assertThat(
            onBroker.<Integer>administer(
                admin -> admin.tokenSemaphore(name).createIfAbsent(7, TokenQueueType.CLASSIC)))
        .isEqualTo(7);
    application
        .withBean(Uploads.class)
        .run(
            context -> {
              assertThat(onBroker.tokens()).isEqualTo(7);
              assertThat(context.getBean(SemaphoreSetup.class).slots(LockId.tokenSemaphore(name)))
                  .hasValue(7);
              assertThat(output)
                  .contains("token semaphore '" + name + "' exists with 7 slots, which count");
            });
  }

  @ParameterizedTest
  @EnumSource(
      value = SemaphoreAlgorithm.class,
      names = {"SLOTS", "TOKENS"})
  void aSemaphoreWithOtherSlotsIsResizedWhereThatIsWanted(SemaphoreAlgorithm algorithm) {
    ApplicationContextRunner configured =
        application.withPropertyValues(
            "amqp-locks.semaphores." + name + ".algorithm=" + algorithm,
            "amqp-locks.semaphores." + name + ".on-mismatch=resize");
    for (int slots : new int[] {3, 7, 2}) {
      configured
          .withPropertyValues("amqp-locks.semaphores." + name + ".slots=" + slots)
          .run(
              context -> {
                assertThat(
                        algorithm == SemaphoreAlgorithm.SLOTS
                            ? onBroker.slots()
                            : onBroker.tokens())
                    .isEqualTo(slots);
                LockId id = context.getBean(LockCatalog.class).semaphore(name);
                assertThat(context.getBean(SemaphoreSetup.class).slots(id)).hasValue(slots);
              });
    }
  }

  @Test
  void withoutABrokerTheApplicationStartsAndTheFirstUseCreates(CapturedOutput output) {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      proxy.refuse(true);
      application
          .withPropertyValues(
              "spring.rabbitmq.host=" + proxy.host(), "spring.rabbitmq.port=" + proxy.port())
          .withBean(Uploads.class)
          .run(
              context -> {
                assertThat(context).hasNotFailed();
                assertThat(output).contains("Semaphores are created at first use");
                Uploads uploads = context.getBean(Uploads.class);
                assertThatExceptionOfType(LockException.Unreachable.class)
                    .isThrownBy(uploads::upload);
                proxy.refuse(false);
                uploads.upload();
                assertThat(onBroker.tokens()).isEqualTo(4);
              });
    }
  }

  @Test
  void wrongCredentialsStopTheStart() {
    application
        .withPropertyValues("spring.rabbitmq.password=wrong")
        .withBean(Uploads.class)
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasRootCauseInstanceOf(Exception.class)
                    .hasStackTraceContaining(LockException.Refused.class.getName()));
  }

  @Test
  void aBeanWhoseClassShowsLateIsReadAtItsFirstCall() {
    application
        .withBean("late", Late.class)
        .run(
            context -> {
              assertThat(onBroker.tokens()).isZero();
              context.getBean(Uploading.class).upload();
              assertThat(onBroker.tokens()).isEqualTo(4);
            });
  }

  static final class Late implements FactoryBean<Uploading> {
    static class Guarded implements Uploading {
      @Override
      @SemaphoreGuarded(name = "${test.lock}", slots = 4)
      public void upload() {}
    }

    @Override
    public Uploading getObject() {
      return new Guarded();
    }

    @Override
    public Class<?> getObjectType() {
      return Uploading.class;
    }
  }
}
