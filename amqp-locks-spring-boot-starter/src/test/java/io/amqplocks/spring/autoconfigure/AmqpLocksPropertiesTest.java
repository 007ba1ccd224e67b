package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class AmqpLocksPropertiesTest {

  private final ApplicationContextRunner application = Contexts.withoutBroker();

  @Test
  void defaults() {
    application.run(
        context -> {
          AmqpLocksProperties properties = context.getBean(AmqpLocksProperties.class);
          assertThat(properties.enabled()).isTrue();
          assertThat(properties.heartbeat()).isEqualTo(Duration.ofSeconds(10));
          assertThat(properties.callTimeout()).isNull();
          assertThat(properties.verifyEvery()).isNull();
          assertThat(properties.certainFor()).isNull();
          assertThat(properties.queuePrefix()).isEqualTo("amqp-locks.");
          assertThat(properties.defaultWait()).isEqualTo(Duration.ofSeconds(30));
          assertThat(properties.annotations().order())
              .isEqualTo(AmqpLocksProperties.DEFAULT_ORDER)
              .isLessThan(Integer.MAX_VALUE);
        });
  }

  @Test
  void instances() {
    application
        .withPropertyValues(
            "amqp-locks.default-wait=7s",
            "amqp-locks.semaphores.images.wait=2s",
            "amqp-locks.semaphores[a b.c].wait=3s",
            "amqp-locks.mutexes.report.wait=1m",
            "amqp-locks.read-write-locks.prices.wait=2m",
            "amqp-locks.annotations.order=5")
        .run(
            context -> {
              LockCatalog catalog = context.getBean(LockCatalog.class);
              assertThat(catalog.waitFor(FamilyId.semaphore("images")))
                  .isEqualTo(Duration.ofSeconds(2));
              assertThat(catalog.waitFor(FamilyId.semaphore("a b.c")))
                  .isEqualTo(Duration.ofSeconds(3));
              assertThat(catalog.waitFor(FamilyId.mutex("report")))
                  .isEqualTo(Duration.ofMinutes(1));
              assertThat(catalog.waitFor(FamilyId.mutex("images")))
                  .isEqualTo(Duration.ofSeconds(7));
              assertThat(catalog.waitFor(FamilyId.readLock("prices")))
                  .isEqualTo(catalog.waitFor(FamilyId.writeLock("prices:of a key")))
                  .isEqualTo(Duration.ofMinutes(2));
              assertThat(catalog.locks())
                  .hasSize(5)
                  .contains(LockId.readLock("prices"), LockId.writeLock("prices"));
            });
  }

  @ParameterizedTest
  @CsvSource({
    "amqp-locks.heartbeat, 0s",
    "amqp-locks.heartbeat, 1500ms",
    "amqp-locks.heartbeat, 11m",
    "amqp-locks.call-timeout, 0s",
    "amqp-locks.call-timeout, 11s",
    "amqp-locks.verify-every, -1s",
    "amqp-locks.verify-every, 11s",
    "amqp-locks.certain-for, 999ms",
    "amqp-locks.default-wait, -1s",
    "amqp-locks.shutdown-timeout, -1s",
    "amqp-locks.semaphores.images.slots, 0",
    "amqp-locks.semaphores.images.slots, -5",
    "amqp-locks.semaphores.images.slots, 10001",
    "amqp-locks.semaphores.images.wait, -1s",
    "amqp-locks.mutexes.report.wait, -1s",
    "amqp-locks.read-write-locks.prices.wait, -1s",
    "amqp-locks.semaphores[my_images].slots, 0",
    "amqp-locks.mutexes[a/b.c].wait, -1s"
  })
  void aWrongValueIsToldByItsProperty(String property, String value) {
    application
        .withPropertyValues(property + "=" + value)
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining(property + " must"));
  }

  /** As annotations do, where Spring Boot would read milliseconds. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "amqp-locks.heartbeat",
        "amqp-locks.certain-for",
        "amqp-locks.default-wait",
        "amqp-locks.semaphores.images.wait",
        "amqp-locks.mutexes.report.wait",
        "amqp-locks.read-write-locks.prices.wait"
      })
  void aNumberWithoutAUnitIsRefused(String property) {
    FailureAnalysis analysis =
        StartFailures.of(application.withPropertyValues("number=3000", property + "=${number}"));
    assertThat(analysis.getDescription())
        .contains(property, "'3000' has no unit: write 3000s or 3000ms");
  }

  @Test
  void zeroNeedsNoUnit() {
    application
        .withPropertyValues("amqp-locks.default-wait=0")
        .run(
            context ->
                assertThat(context.getBean(AmqpLocksProperties.class).defaultWait()).isZero());
  }

  /** The variable's name has no place for a dash, so it reads as another lock's too. */
  @Test
  void aVariableOverridesThePropertyOfANameWithADash() {
    Map<String, Object> variables =
        Map.of(
            "AMQPLOCKS_SEMAPHORES_IMAGEUPLOADS_SLOTS", "8",
            "AMQPLOCKS_MUTEXES_DAILYREPORT_WAIT", "2s",
            "AMQPLOCKS_MUTEXES_OTHER_WAIT", "2s");
    application
        .withPropertyValues(
            "amqp-locks.semaphores.image-uploads.slots=5", "amqp-locks.mutexes.dailyReport.wait=1s")
        .withInitializer(
            context ->
                context
                    .getEnvironment()
                    .getPropertySources()
                    .addFirst(
                        new SystemEnvironmentPropertySource("test-systemEnvironment", variables)))
        .run(
            context -> {
              LockCatalog catalog = context.getBean(LockCatalog.class);
              LockId uploads = LockId.tokenSemaphore("image-uploads");
              assertThat(catalog.locks())
                  .containsExactlyInAnyOrder(
                      uploads, LockId.mutex("dailyReport"), LockId.mutex("other"));
              assertThat(catalog.slots(uploads)).isEqualTo(8);
              assertThat(catalog.waitFor(FamilyId.mutex("dailyReport"))).hasSeconds(2);
              assertThat(context.getBeanNamesForType(LockHandle.class))
                  .containsExactlyInAnyOrder(
                      "amqp-locks.semaphores.image-uploads",
                      "amqp-locks.mutexes.dailyReport",
                      "amqp-locks.mutexes.other");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"semaphores", "mutexes", "read-write-locks"})
  void anIllegalNameIsToldByItsProperty(String group) {
    String property = "amqp-locks." + group + "[" + "x".repeat(201) + "]";
    application
        .withPropertyValues(property + ".wait=1s")
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasStackTraceContaining(property + ": The lock name 'xxxxxxxxxxxxxxxxxxxx"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"images", "my-images", "7", "my_images", "my.images", "a/b", "Images", "-a", "é"})
  void aPropertyIsReadAsItIsWrittenInMessages(String name) {
    FamilyId id = FamilyId.semaphore(name);
    application
        .withPropertyValues(id.property() + ".slots=3")
        .run(
            context -> {
              LockCatalog catalog = context.getBean(LockCatalog.class);
              assertThat(catalog.slots(catalog.semaphore(name))).isEqualTo(3);
            });
  }

  @ParameterizedTest
  @CsvSource({
    "amqp-locks.semaphore-algorithm, rings",
    "amqp-locks.semaphore-queue-type, stream",
    "amqp-locks.semaphores.images.algorithm, exclusive-queue",
    "amqp-locks.semaphores.images.on-mismatch, ignore",
    "amqp-locks.mutexes.report.algorithm, slots"
  })
  void anUnknownValueIsToldByItsPropertyWithThoseThatThereAre(String property, String value) {
    FailureAnalysis analysis =
        StartFailures.of(application.withPropertyValues(property + "=" + value));
    assertThat(analysis.getDescription()).contains("Property: " + property, value);
    assertThat(analysis.getAction()).containsAnyOf("TOKENS", "QUORUM", "ADOPT");
  }

  @Test
  void anIllegalQueuePrefixIsToldByItsProperty() {
    application
        .withPropertyValues("amqp-locks.queue-prefix=amq.locks.")
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasStackTraceContaining("amqp-locks.queue-prefix: "));
  }

  @Test
  void aWrongValueIsWhatTheFailureAnalysisShows() {
    FailureAnalysis analysis =
        StartFailures.of(application.withPropertyValues("amqp-locks.semaphores.images.slots=0"));
    assertThat(analysis.getDescription())
        .contains("amqp-locks.semaphores.images.slots must be 1 to 10000, and not 0");
  }
}
