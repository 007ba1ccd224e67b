package io.amqplocks.spring.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.Fenced;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.Queue;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.Slots;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.Tokens;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.Urgent;
import io.amqplocks.spring.internal.catalog.AlgorithmChoiceTest.UrgentReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications that do not start, because what is said of a lock does not fit together. */
class AlgorithmConflictTest {

  private final ApplicationContextRunner application = Contexts.withoutBroker();

  /** Uses a lock before anything is known of it. */
  static class Early {
    Early(LockTemplate locks) {
      assertThat(locks.semaphore("images").withPriority(1)).isNotNull();
    }
  }

  private static void assertFails(ApplicationContextRunner application, String... messages) {
    application.run(
        context -> {
          assertThat(context).hasFailed();
          assertThat(context.getStartupFailure())
              .isInstanceOf(IllegalStateException.class)
              .message()
              .contains(messages);
        });
  }

  @Test
  void twoAnnotationsThatContradictEachOther() {
    assertFails(
        application.withBean(Slots.class).withBean(Tokens.class),
        "The semaphore 'images' is given the algorithm ",
        "SLOTS by " + Slots.class.getName() + ".upload()",
        "TOKENS by " + Tokens.class.getName() + ".upload()",
        "by amqp-locks.semaphores.images.algorithm");
    assertFails(
        application.withBean(Queue.class).withBean(Fenced.class),
        "The mutex 'report' is given the algorithm ",
        "EXCLUSIVE_QUEUE by " + Queue.class.getName() + ".report()",
        "TOKENS by " + Fenced.class.getName() + ".report()",
        "by amqp-locks.mutexes.report.algorithm");
  }

  @ParameterizedTest
  @CsvSource({
    "amqp-locks.semaphores.images.algorithm, slots, SLOTS by",
    "amqp-locks.mutexes.report.algorithm, exclusive-queue, EXCLUSIVE_QUEUE by"
  })
  void aPropertyThatContradictsAnAnnotation(String property, String value, String said) {
    assertFails(
        application
            .withPropertyValues(property + "=" + value)
            .withBean(Tokens.class)
            .withBean(Fenced.class),
        said + " " + property,
        "TOKENS by " + AlgorithmChoiceTest.class.getName());
  }

  @Test
  void aPriorityOfALockThatHasNone() {
    assertFails(
        application.withBean(UrgentReport.class),
        UrgentReport.class.getName() + ".report() waits for the mutex 'report' with priority 3",
        "SINGLE_ACTIVE_CONSUMER, by default, has no priorities",
        "Choose TOKENS there or by amqp-locks.mutexes.report.algorithm=tokens");
    assertFails(
        application.withBean(Slots.class).withBean(Urgent.class),
        Urgent.class.getName() + ".upload() waits for the semaphore 'images' with priority 3",
        "SLOTS, by " + Slots.class.getName() + ".upload(), has no priorities");
    assertFails(
        application
            .withPropertyValues("amqp-locks.semaphore-algorithm=slots")
            .withBean(Urgent.class),
        "SLOTS, by amqp-locks.semaphore-algorithm, has no priorities");
  }

  static class TooUrgent {
    @SemaphoreGuarded(name = "images", slots = 2, priority = 1000)
    public void upload() {}
  }

  /** Not at the first call: that may be weeks later. */
  @Test
  void aPriorityThatIsTooHigh() {
    assertFails(
        application.withBean(TooUrgent.class),
        TooUrgent.class.getName() + ".upload() waits for the semaphore 'images' with priority 1000",
        "Use -999 to 999");
  }

  @Test
  void aQueueTypeForSlots() {
    assertFails(
        application
            .withPropertyValues("amqp-locks.semaphores.images.queue-type=quorum")
            .withBean(Slots.class),
        "amqp-locks.semaphores.images.queue-type is for tokens, and the semaphore 'images' has the"
            + " algorithm SLOTS by "
            + Slots.class.getName()
            + ".upload()");
  }

  @Test
  void aLockThatWasInUseBeforeAnAnnotationSaidOtherwise() {
    assertFails(
        application.withBean(Early.class).withBean(Slots.class),
        "TOKENS by amqp-locks.semaphore-algorithm at its first use and SLOTS by",
        "by amqp-locks.semaphores.images.algorithm");
  }

  /** Uses the lock of a key before anything is known of the name. */
  static class EarlyKey {
    EarlyKey(LockTemplate locks) {
      assertThat(locks.mutex("order", "4711").id().kind()).isEqualTo(LockKind.MUTEX);
    }
  }

  static class FencedOrders {
    @MutexGuarded(name = "order", key = "#p0", algorithm = MutexAlgorithm.TOKENS)
    public void handle(String id) {}
  }

  /** Or else this process would hold one lock, and all others another one. */
  @Test
  void aLockOfAKeyThatWasInUseBeforeAnAnnotationSaidOtherwise() {
    assertFails(
        application.withBean(EarlyKey.class).withBean(FencedOrders.class),
        "The mutex 'order' is given the algorithm",
        "SINGLE_ACTIVE_CONSUMER by default at its first use and TOKENS by");
  }

  static class FencedOrder {
    @MutexGuarded(name = "order:4711", algorithm = MutexAlgorithm.TOKENS)
    public void handle() {}
  }

  @Test
  void aLockOfAKeyThatWasInUseBeforeAnAnnotationNamedThatVeryLock() {
    assertFails(
        application.withBean(EarlyKey.class).withBean(FencedOrder.class),
        "The mutex 'order:4711' is given the algorithm",
        "SINGLE_ACTIVE_CONSUMER by default at its first use and TOKENS by");
  }

  static class PlainOrder {
    @MutexGuarded(name = "order:4711")
    public void handle() {}
  }

  static class EarlyFencedKey {
    EarlyFencedKey(LockTemplate locks) {
      assertThat(locks.mutex("order", "4711").id().kind()).isEqualTo(LockKind.FENCED_MUTEX);
    }
  }

  /** Another process, in which nothing uses it early, takes it for the default. */
  @Test
  void aLockOfAKeyThatWasInUseBeforeAnAnnotationNamedItWithoutAnAlgorithm() {
    assertFails(
        application
            .withPropertyValues("amqp-locks.mutexes.order.algorithm=tokens")
            .withBean(EarlyFencedKey.class)
            .withBean(PlainOrder.class),
        "The mutex 'order:4711' is given the algorithm",
        "TOKENS by amqp-locks.mutexes.order.algorithm at its first use",
        "SINGLE_ACTIVE_CONSUMER by default");
  }

  @Test
  void anUnknownAlgorithmIsToldByItsProperty() {
    application
        .withPropertyValues("amqp-locks.semaphores.images.algorithm=tickets")
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasStackTraceContaining("amqp-locks.semaphores.images.algorithm"));
  }
}
