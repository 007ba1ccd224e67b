package io.amqplocks.spring.internal.guard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class MisspelledNamesTest {

  private final ApplicationContextRunner application =
      Contexts.withoutBroker()
          .withPropertyValues("spring.rabbitmq.host=nowhere.invalid")
          .withBean(Uploads.class);

  static class Uploads {
    @SemaphoreGuarded(name = "images", slots = 5)
    void upload() {}

    @MutexGuarded(name = "order", key = "#id")
    void order(String id) {}

    @WriteGuarded(name = "prices")
    void change() {}
  }

  @Test
  void aPropertyOfANameThatIsAlmostAnAnnotationsIsWarnedOf(CapturedOutput output) {
    application
        .withPropertyValues(
            "amqp-locks.semaphores.imagess.wait=3s",
            "amqp-locks.mutexes.orders.wait=3s",
            "amqp-locks.read-write-locks.price.wait=3s")
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(output)
        .contains(
            "amqp-locks.semaphores.imagess configures the semaphore 'imagess', which no annotation names;"
                + " one names the semaphore 'images'")
        .contains("amqp-locks.mutexes.orders configures the mutex 'orders'")
        .containsOnlyOnce(
            "amqp-locks.read-write-locks.price configures the read-write lock 'price'");
  }

  @Test
  void aNameThatIsUsedOrLikeNoOtherOrOfAnotherFamilyIsNot(CapturedOutput output) {
    application
        .withPropertyValues(
            "amqp-locks.semaphores.images.wait=3s",
            "amqp-locks.mutexes.order.wait=3s",
            "amqp-locks.mutexes.image.wait=3s",
            "amqp-locks.read-write-locks.prices.wait=3s",
            "amqp-locks.semaphores.reports.wait=3s")
        .run(context -> assertThat(context).hasNotFailed());
    assertThat(output)
        .doesNotContain("which no annotation names")
        .contains("for the LockTemplate only:")
        .containsPattern("only:.* amqp-locks.semaphores.reports")
        .containsPattern("only:.* amqp-locks.mutexes.image\\b")
        .doesNotContainPattern("only:.* amqp-locks.semaphores.images\\b")
        .doesNotContainPattern("only:.* amqp-locks.mutexes.order\\b")
        .doesNotContainPattern("only:.* amqp-locks.read-write-locks");
  }

  @ParameterizedTest
  @CsvSource({
    "images, images, 0",
    "images, imagess, 1",
    "images, imgaes, 2",
    "images, '', 6",
    "kitten, sitting, 3"
  })
  void theDistanceIsLevenshteins(String one, String other, int distance) {
    assertThat(MisspelledNames.distance(one, other)).isEqualTo(distance);
    assertThat(MisspelledNames.distance(other, one)).isEqualTo(distance);
  }
}
