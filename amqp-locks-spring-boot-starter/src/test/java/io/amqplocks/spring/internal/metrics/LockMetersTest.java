package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import io.amqplocks.spring.internal.time.Ticker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.search.RequiredSearch;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@BrokerTest(everyLine = true)
class LockMetersTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final ApplicationContextRunner application;

  LockMetersTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker
            .application()
            .withPropertyValues("amqp-locks.mutexes." + name + ".wait=20s")
            .withBean(Uploads.class);
  }

  static class Uploads {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    void upload() {}
  }

  private RequiredSearch meter(MeterRegistry registry, String meter, String type) {
    return registry.get(meter).tag("amqp.locks.name", name).tag("amqp.locks.type", type);
  }

  @Test
  void whetherThereIsASession() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          context.getBean(Uploads.class).upload();
          assertThat(registry.get("amqp.locks.session").gauge().value()).isEqualTo(1);
          context.getBean(AmqpLocks.class).close();
          assertThat(registry.get("amqp.locks.session").gauge().value()).isZero();
        });
  }

  @Test
  void theNumberOfSlotsFollowsAResizeByAnotherProcess() {
    application.run(
        context -> {
          SemaphoreSetup setup = context.getBean(SemaphoreSetup.class);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          LockId images = LockId.tokenSemaphore(name);
          SlotNumbers numbers =
              new SlotNumbers(locks, setup, Duration.ZERO, Ticker.SYSTEM, SlotNumbers.BACKGROUND);
          for (int slots : List.of(5, 1)) {
            onBroker.administer(admin -> admin.tokenSemaphore(name).resize(slots));
            await().until(() -> numbers.of(images).equals(OptionalInt.of(slots)));
          }
          assertThat(numbers.of(LockId.tokenSemaphore("another"))).isEmpty();
        });
  }

  /** The first read has the broker asked. */
  @Test
  void theGaugeOfSlotsFollowsAResizeByAnotherProcess() {
    application.run(
        context -> {
          onBroker.administer(admin -> admin.tokenSemaphore(name).resize(7));
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          await()
              .until(
                  () ->
                      meter(registry, "amqp.locks.slots", "token semaphore").gauge().value() == 7);
        });
  }

  @Test
  void whoReadsTheNumberOfSlotsOftenHasTheBrokerAskedSeldom() {
    application.run(
        context -> {
          AtomicLong time = new AtomicLong();
          SlotNumbers numbers =
              new SlotNumbers(
                  context.getBean(AmqpLocks.class),
                  context.getBean(SemaphoreSetup.class),
                  Duration.ofSeconds(30),
                  time::get,
                  SlotNumbers.BACKGROUND);
          LockId images = LockId.tokenSemaphore(name);
          onBroker.administer(admin -> admin.tokenSemaphore(name).resize(5));
          await().until(() -> numbers.of(images).equals(OptionalInt.of(5)));
          onBroker.administer(admin -> admin.tokenSemaphore(name).resize(3));
          await()
              .during(Duration.ofMillis(500))
              .until(() -> numbers.of(images).equals(OptionalInt.of(5)));
          time.addAndGet(Duration.ofSeconds(30).toNanos());
          await().until(() -> numbers.of(images).equals(OptionalInt.of(3)));
        });
  }

  @Test
  void aMomentWithoutAThreadDelaysTheNumberOfSlots() {
    application.run(
        context -> {
          AtomicBoolean starved = new AtomicBoolean(true);
          SlotNumbers numbers =
              new SlotNumbers(
                  context.getBean(AmqpLocks.class),
                  context.getBean(SemaphoreSetup.class),
                  Duration.ZERO,
                  Ticker.SYSTEM,
                  question -> {
                    if (starved.get()) {
                      throw new OutOfMemoryError("unable to create native thread, says the test");
                    }
                    SlotNumbers.BACKGROUND.execute(question);
                  });
          LockId images = LockId.tokenSemaphore(name);
          onBroker.administer(admin -> admin.tokenSemaphore(name).resize(5));
          assertThat(numbers.of(images)).hasValue(2);
          starved.set(false);
          await().until(() -> numbers.of(images).equals(OptionalInt.of(5)));
        });
  }

  @Test
  void eachMeterHasADescription() {
    application.run(
        context ->
            assertThat(context.getBean(MeterRegistry.class).getMeters())
                .map(Meter::getId)
                .filteredOn(id -> id.getName().startsWith("amqp.locks."))
                .isNotEmpty()
                .allSatisfy(id -> assertThat(id.getDescription()).as("%s", id).isNotBlank()));
  }

  @Test
  void whatAnAnnotatedMethodDoes() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          for (String outcome : List.of("acquired", "busy", "timeout", "interrupted", "error")) {
            assertThat(
                    meter(registry, "amqp.locks.acquire", "token semaphore")
                        .tag("amqp.locks.outcome", outcome)
                        .timer()
                        .count())
                .as(outcome)
                .isZero();
          }
          context.getBean(Uploads.class).upload();
          await()
              .until(
                  () ->
                      meter(registry, "amqp.locks.hold", "token semaphore")
                              .tag("amqp.locks.outcome", "released")
                              .timer()
                              .count()
                          == 1);
          assertThat(
                  meter(registry, "amqp.locks.acquire", "token semaphore")
                      .tag("amqp.locks.outcome", "acquired")
                      .timer()
                      .count())
              .isEqualTo(1);
          assertThat(meter(registry, "amqp.locks.held", "token semaphore").gauge().value())
              .isZero();
          assertThat(meter(registry, "amqp.locks.slots", "token semaphore").gauge().value())
              .isEqualTo(2);
          assertThat(meter(registry, "amqp.locks.waiting", "token semaphore").gauge().value())
              .isZero();
        });
  }

  @Test
  void busyAndLost() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          LockTemplate locks = context.getBean(LockTemplate.class);
          Lease lease = locks.mutex(name).acquire();
          assertThat(locks.mutex(name).tryAcquire()).isEmpty();
          assertThat(meter(registry, "amqp.locks.held", "mutex").gauge().value()).isEqualTo(1);
          await()
              .until(
                  () ->
                      meter(registry, "amqp.locks.acquire", "mutex")
                              .tag("amqp.locks.outcome", "busy")
                              .timer()
                              .count()
                          == 1);
          broker.faults().deleteQueue(onBroker.mutexQueue());
          await()
              .until(
                  () ->
                      meter(registry, "amqp.locks.lost", "mutex")
                              .tag("amqp.locks.cause", "revoked")
                              .counter()
                              .count()
                          == 1);
          assertThat(meter(registry, "amqp.locks.held", "mutex").gauge().value()).isZero();
          assertThat(lease.lossReason()).isPresent();
        });
  }

  @Test
  void namesMadeUpAtRunTimeShareTheirMeters() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          LockTemplate locks = context.getBean(LockTemplate.class);
          int before = registry.getMeters().size();
          for (int i = 0; i < 5; i++) {
            locks.mutex(name + i).execute(() -> {});
          }
          await()
              .until(
                  () ->
                      registry
                              .get("amqp.locks.hold")
                              .tags(
                                  List.of(
                                      Tag.of("amqp.locks.name", LockMeters.OTHER),
                                      Tag.of("amqp.locks.type", "mutex"),
                                      Tag.of("amqp.locks.outcome", "released")))
                              .timer()
                              .count()
                          == 5);
          assertThat(registry.getMeters()).hasSize(before);
        });
  }
}
