package io.amqplocks.spring.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Which lock stands for a name, as annotations and properties say. */
class AlgorithmChoiceTest {

  private static final LockId TOKENS = LockId.tokenSemaphore("images");
  private static final LockId SLOTS = LockId.slotSemaphore("images");
  private static final LockId ACTIVE = LockId.mutex("report");
  private static final LockId QUEUE = LockId.exclusiveQueueMutex("report");
  private static final LockId FENCED = LockId.fencedMutex("report");

  private final ApplicationContextRunner application = Contexts.withoutBroker();

  static class Plain {
    @SemaphoreGuarded(name = "images")
    void upload() {}

    @MutexGuarded(name = "report")
    void report() {}
  }

  static class Slots {
    @SemaphoreGuarded(name = "images", algorithm = SemaphoreAlgorithm.SLOTS)
    void upload() {}
  }

  static class Tokens {
    @SemaphoreGuarded(name = "images", algorithm = SemaphoreAlgorithm.TOKENS, priority = 3)
    void upload() {}
  }

  static class Queue {
    @MutexGuarded(name = "report", algorithm = MutexAlgorithm.EXCLUSIVE_QUEUE)
    void report() {}
  }

  static class Fenced {
    @MutexGuarded(name = "report", algorithm = MutexAlgorithm.TOKENS, priority = -3)
    void report() {}
  }

  static class Urgent {
    @SemaphoreGuarded(name = "images", priority = 3)
    void upload() {}
  }

  static class UrgentReport {
    @MutexGuarded(name = "report", priority = 3)
    void report() {}
  }

  private static void assertLocks(ApplicationContextRunner application, LockId... expected) {
    application.run(
        context -> {
          assertThat(context).hasNotFailed();
          LockCatalog catalog = context.getBean(LockCatalog.class);
          assertThat(catalog.locks()).containsExactlyInAnyOrder(expected);
          for (LockId id : expected) {
            String name = id.name().value();
            assertThat(name.equals("report") ? catalog.mutex(name) : catalog.semaphore(name))
                .isEqualTo(id);
          }
        });
  }

  @Test
  void semaphoresAreTokensAndMutexesActiveConsumers() {
    assertLocks(application.withBean(Plain.class), TOKENS, ACTIVE);
  }

  @Test
  void anAnnotationDecides() {
    assertLocks(application.withBean(Slots.class).withBean(Fenced.class), SLOTS, FENCED);
    assertLocks(
        application
            .withPropertyValues("amqp-locks.semaphore-algorithm=slots")
            .withBean(Tokens.class)
            .withBean(Queue.class),
        TOKENS,
        QUEUE);
  }

  @Test
  void aPropertyDecides() {
    assertLocks(
        application
            .withPropertyValues(
                "amqp-locks.semaphores.images.algorithm=slots",
                "amqp-locks.mutexes.report.algorithm=tokens")
            .withBean(Plain.class),
        SLOTS,
        FENCED);
    assertLocks(
        application.withPropertyValues(
            "amqp-locks.semaphore-algorithm=slots",
            "amqp-locks.semaphores.images.algorithm=tokens",
            "amqp-locks.mutexes.report.algorithm=exclusive-queue"),
        TOKENS,
        QUEUE);
  }

  @Test
  void aPropertyDecidesForAllSemaphoresThatSayNothing() {
    assertLocks(
        application
            .withPropertyValues(
                "amqp-locks.semaphore-algorithm=slots",
                "amqp-locks.semaphores.images.algorithm=default")
            .withBean(Plain.class),
        SLOTS,
        ACTIVE);
  }

  @Test
  void aPropertyMaySayTheSameAsAnAnnotation() {
    assertLocks(
        application
            .withPropertyValues("amqp-locks.semaphores.images.algorithm=slots")
            .withBean(Slots.class),
        SLOTS);
  }

  @Test
  void oneAnnotationDecidesForTheOthersInWhateverOrderTheyAreRead() {
    assertLocks(application.withBean(Plain.class).withBean(Slots.class), SLOTS, ACTIVE);
    assertLocks(application.withBean(Slots.class).withBean(Plain.class), SLOTS, ACTIVE);
    assertLocks(application.withBean(UrgentReport.class).withBean(Fenced.class), FENCED);
  }

  @Test
  void anEarlyUseDecides() {
    assertLocks(
        application.withBean(AlgorithmConflictTest.Early.class).withBean(Urgent.class), TOKENS);
  }

  @Test
  void aPropertyMakesRoomForAPriority() {
    assertLocks(
        application
            .withPropertyValues("amqp-locks.mutexes.report.algorithm=tokens")
            .withBean(UrgentReport.class)
            .withBean(Urgent.class),
        FENCED,
        TOKENS);
  }

  @Test
  void theTemplateAndTheWaitFollow() {
    application
        .withPropertyValues(
            "amqp-locks.semaphores.images.wait=2s",
            "amqp-locks.semaphores.images.slots=3",
            "amqp-locks.semaphores.images.queue-type=classic",
            "amqp-locks.mutexes.report.wait=3s")
        .withBean(Fenced.class)
        .run(
            context -> {
              LockCatalog catalog = context.getBean(LockCatalog.class);
              assertThat(catalog.waitFor(FamilyId.of(TOKENS))).isEqualTo(Duration.ofSeconds(2));
              assertThat(catalog.waitFor(FamilyId.of(FENCED))).isEqualTo(Duration.ofSeconds(3));
              assertThat(catalog.slots(TOKENS)).isEqualTo(3);
              assertThat(catalog.slots(SLOTS)).as("of another lock").isZero();
              assertThat(catalog.queueType(TOKENS)).isEqualTo(TokenQueueType.CLASSIC);
              assertThat(catalog.queueType(LockId.tokenSemaphore("others")))
                  .isEqualTo(TokenQueueType.QUORUM);
              LockTemplate locks = context.getBean(LockTemplate.class);
              assertThat(locks.mutex("report").withPriority(1)).isNotNull();
              assertThat(locks.semaphore("made up").withPriority(1)).isNotNull();
              assertThat(catalog.locks()).as("no made-up names").hasSize(2);
            });
  }

  @Test
  void theQueueTypeOfAllSemaphores() {
    application
        .withPropertyValues(
            "amqp-locks.semaphore-queue-type=classic",
            "amqp-locks.semaphores.images.queue-type=quorum")
        .run(
            context -> {
              LockCatalog catalog = context.getBean(LockCatalog.class);
              assertThat(catalog.queueType(TOKENS)).isEqualTo(TokenQueueType.QUORUM);
              assertThat(catalog.queueType(LockId.tokenSemaphore("others")))
                  .isEqualTo(TokenQueueType.CLASSIC);
            });
  }
}
