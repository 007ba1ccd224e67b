package io.amqplocks.spring.internal.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Configured locks are injected by their names. */
@BrokerTest
@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class NamedLocksTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  NamedLocksTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withPropertyValues(
                "amqp-locks.semaphores.images.slots=1",
                "amqp-locks.semaphores[my.images].slots=1",
                "amqp-locks.semaphores.twice.slots=1",
                "amqp-locks.mutexes.twice.wait=20s",
                "amqp-locks.read-write-locks.prices.wait=20s",
                "amqp-locks.mutexes.report.wait=20s");
  }

  record Uses(
      @Qualifier("images") LockHandle images,
      @Qualifier("my.images") LockHandle mine,
      @Qualifier("report") LockHandle report,
      @Qualifier("amqp-locks.semaphores.twice") LockHandle semaphore,
      @Qualifier("amqp-locks.mutexes.twice") LockHandle mutex,
      @Qualifier("amqp-locks.read-write-locks.prices.read") LockHandle reader,
      @Qualifier("amqp-locks.read-write-locks.prices.write") LockHandle writer) {}

  @Test
  void byNameOrByTheNameOfTheProperties() {
    application
        .withBean(Uses.class)
        .run(
            context -> {
              Uses uses = context.getBean(Uses.class);
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease lease = uses.images().acquire()) {
                assertThat(lease.lock()).isEqualTo(LockId.tokenSemaphore("images"));
                assertThat(template.semaphore("images").tryAcquire()).isEmpty();
              }
              assertThat(uses.mine().execute(onBroker::queues))
                  .anyMatch(queue -> queue.contains("my.images"));
              uses.report().execute(() -> {});
              try (Lease one = uses.semaphore().acquire();
                  Lease other = uses.mutex().acquire()) {
                assertThat(one.lock()).isEqualTo(LockId.tokenSemaphore("twice"));
                assertThat(other.lock()).isEqualTo(LockId.mutex("twice"));
              }
              assertThat(uses.reader().id()).isEqualTo(LockId.readLock("prices"));
              try (Lease writer = uses.writer().acquire()) {
                assertThat(writer.lock()).isEqualTo(LockId.writeLock("prices"));
                assertThat(uses.reader().tryAcquire()).isEmpty();
              }
            });
  }

  /**
   * Whoever looks for beans of a type, as Boot does for meters, must not create the locks early.
   */
  @Test
  void theyDoNotDragTheLocksIntoTheCreationOfWhatProcessesBeans(CapturedOutput output) {
    application
        .withBean(Slots.class)
        .run(
            context ->
                assertThat(context.getBean(MeterRegistry.class).get("amqp.locks.slots").gauges())
                    .isNotEmpty());
    assertThat(output).doesNotContain("is not eligible for getting processed");
  }

  static class Slots {
    @SemaphoreGuarded(name = "images", algorithm = SemaphoreAlgorithm.SLOTS)
    void upload() {}
  }

  record Early(@Qualifier("images") LockHandle images) {}

  @Test
  void anAnnotationThatIsReadAfterTheInjectionStillSaysTheAlgorithm() {
    application
        .withBean(Early.class)
        .withBean(Slots.class)
        .run(
            context -> {
              try (Lease lease = context.getBean(Early.class).images().acquire()) {
                assertThat(lease.lock()).isEqualTo(LockId.slotSemaphore("images"));
              }
            });
  }

  static class Unqualified {
    @Autowired(required = false)
    @Nullable LockHandle any;
  }

  @Test
  void nothingIsInjectedWithoutAName() {
    onBroker
        .application()
        .withPropertyValues("amqp-locks.mutexes.report.wait=20s")
        .withBean(Unqualified.class)
        .run(context -> assertThat(context.getBean(Unqualified.class).any).isNull());
  }

  @Test
  void aNameThatIsNotConfiguredStopsTheStart() {
    onBroker
        .application()
        .withBean(Early.class)
        .run(
            context -> assertThat(context).hasFailed().getFailure().hasMessageContaining("images"));
  }
}
