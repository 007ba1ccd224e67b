package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.Workers;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** A lock for each key, with the settings and the metrics of the name. */
@BrokerTest
class KeyedLocksTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  KeyedLocksTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application = onBroker.application().withBean(Work.class);
  }

  static class Work {
    @MutexGuarded(name = "${test.lock}", key = "#order", onBusy = OnBusy.SKIP)
    @Nullable String one(String order, Callable<String> work) throws Exception {
      return work.call();
    }

    @SemaphoreGuarded(name = "${test.lock}", key = "#customer", slots = 2, onBusy = OnBusy.SKIP)
    Mono<String> two(long customer, Mono<String> work) {
      return work;
    }
  }

  @Test
  void keysDoNotHinderEachOther() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          assertThat(
                  work.one(
                      "a",
                      () ->
                          work.one("b", () -> "both")
                              + " "
                              + Workers.elsewhere(() -> work.one("a", () -> "not reached"))))
              .isEqualTo("both null");
          String long1 = "k".repeat(300) + "\n1";
          String long2 = "k".repeat(300) + "\n2";
          assertThat(work.one(long1, () -> work.one(long2, () -> "both"))).isEqualTo("both");
          assertThat(
                  work.one(
                      long1, () -> Workers.elsewhere(() -> work.one(long1, () -> "not reached"))))
              .isNull();
          // A release is not confirmed.
          await().until(() -> !onBroker.isMutexHeld());
        });
  }

  @Test
  void templatesMeanTheSameLock() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          LockTemplate template = context.getBean(LockTemplate.class);
          try (Lease lease = template.mutex(onBroker.name(), "a").acquire()) {
            assertThat(lease.lock()).isEqualTo(LockId.mutex(onBroker.name() + ":a"));
            assertThat(work.one("a", () -> "not reached")).isNull();
            assertThat(work.one("b", () -> "free")).isEqualTo("free");
          }
        });
  }

  /** It joins no call, since it does not know of any. */
  private static <T> Mono<T> unrelated(Supplier<Mono<T>> call) {
    return Mono.defer(call).contextWrite(context -> Context.empty());
  }

  @Test
  void eachKeyHasTheSlotsOfTheName() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Mono<String> third = unrelated(() -> work.two(1, Mono.just("not reached")));
          Mono<String> second = unrelated(() -> work.two(1, third.defaultIfEmpty("third skipped")));
          assertThat(work.two(1, second).block(Duration.ofSeconds(30))).isEqualTo("third skipped");
          assertThat(work.two(2, Mono.just("free")).block(Duration.ofSeconds(30)))
              .isEqualTo("free");
          assertThat(locks.admin().tokenSemaphore(onBroker.name() + ":1").count()).isEqualTo(2);
          assertThat(locks.admin().tokenSemaphore(onBroker.name()).count()).isZero();
        });
  }

  @Test
  void aKeysSemaphoreThatWasTidiedUpIsMadeAgain() {
    application.run(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          LockTemplate template = context.getBean(LockTemplate.class);
          for (int i = 0; i < 2; i++) {
            template.semaphore(onBroker.name(), "7").acquire().close();
            template.semaphore(onBroker.name(), "7").tryAcquire().orElseThrow().close();
            assertThat(locks.admin().tokenSemaphore(onBroker.name() + ":7").count()).isEqualTo(2);
            locks.admin().tokenSemaphore(onBroker.name() + ":7").destroy();
            template.semaphore(onBroker.name(), "7").acquireAsync().join().close();
            locks.admin().tokenSemaphore(onBroker.name() + ":7").destroy();
          }
        });
  }

  @Test
  void manyWhoFindItGoneAtOnceAllHaveIt() {
    application.run(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          LockHandle lock = context.getBean(LockTemplate.class).semaphore(onBroker.name(), "7");
          lock.acquire().close();
          locks.admin().tokenSemaphore(onBroker.name() + ":7").destroy();
          List<CompletableFuture<Integer>> all =
              IntStream.range(0, 10)
                  .mapToObj(i -> lock.executeAsync(() -> CompletableFuture.completedFuture(i)))
                  .toList();
          assertThat(all.stream().mapToInt(CompletableFuture::join).sum()).isEqualTo(45);
        });
  }

  @Test
  void whoeverGivesUpAtAFirstUseLeavesTheLine() {
    application.run(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          String name = onBroker.name() + ":9";
          assertThat(
                  onBroker.<Integer>administer(
                      admin -> admin.tokenSemaphore(name).createIfAbsent(1, TokenQueueType.QUORUM)))
              .isEqualTo(1);
          try (AmqpLocks stranger = onBroker.stranger();
              Lease held = stranger.tokenSemaphore(name).tryAcquire().orElseThrow()) {
            CompletableFuture<Lease> waiting =
                context.getBean(LockTemplate.class).semaphore(onBroker.name(), "9").acquireAsync();
            await().atMost(LONG).until(() -> locks.status().waiting() == 1);
            waiting.orTimeout(1, TimeUnit.MILLISECONDS);
            await().atMost(LONG).until(() -> locks.status().waiting() == 0);
            assertThat(held.state()).isEqualTo(LeaseState.HELD);
          }
        });
  }

  @Test
  void metricsGoByTheName() {
    application.run(
        context -> {
          context.getBean(Work.class).one("secret", () -> "done");
          MeterRegistry meters = context.getBean(MeterRegistry.class);
          await()
              .atMost(Duration.ofSeconds(30))
              .until(
                  () ->
                      meters
                              .get("amqp.locks.hold")
                              .tag("amqp.locks.name", onBroker.name())
                              .tag("amqp.locks.type", "mutex")
                              .tag("amqp.locks.outcome", "released")
                              .timer()
                              .count()
                          == 1);
          assertThat(meters.getMeters())
              .noneMatch(meter -> meter.getId().toString().contains("secret"));
          assertThat(context.getBean(LockCatalog.class).locks()).hasSize(2);
        });
  }
}
