package io.amqplocks.spring.internal.naming;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FamilyIdTest {

  @Test
  void theAlgorithmMakesNoDifference() {
    assertThat(FamilyId.of(LockId.slotSemaphore("images")))
        .isEqualTo(FamilyId.of(LockId.tokenSemaphore("images")))
        .isNotEqualTo(FamilyId.of(LockId.mutex("images")))
        .hasToString("semaphore 'images'");
    assertThat(FamilyId.of(LockId.fencedMutex("report"))).hasToString("mutex 'report'");
    assertThat(FamilyId.mutex("report").as(LockKind.FENCED_MUTEX))
        .isEqualTo(LockId.fencedMutex("report"));
  }

  @ParameterizedTest
  @CsvSource({
    "images, amqp-locks.semaphores.images",
    "my_images, amqp-locks.semaphores[my_images]",
    "images:1, amqp-locks.semaphores[images:1]"
  })
  void propertiesAreNamedAsSpringBootReadsThem(String name, String property) {
    assertThat(FamilyId.semaphore(name).property()).isEqualTo(property);
  }
}
