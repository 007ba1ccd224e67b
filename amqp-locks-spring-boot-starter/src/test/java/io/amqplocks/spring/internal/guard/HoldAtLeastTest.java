package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lock that is kept for a minimum time after short work, and who waits for that. */
@BrokerTest
@Tag("defect-B3")
@Order(1) // of the longest
class HoldAtLeastTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  /** Of all applications of the test, each of which stands for a process. */
  private static final AtomicInteger RAN = new AtomicInteger();

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  HoldAtLeastTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withPropertyValues("amqp-locks.shutdown-timeout=0s")
            .withUserConfiguration(Background.class)
            .withBean(Work.class);
  }

  @BeforeEach
  void countAnew() {
    RAN.set(0);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class Background {}

  static class Work {
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, holdAtLeast = "10m")
    void once() {
      RAN.incrementAndGet();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "3s")
    void threeSeconds() {
      RAN.incrementAndGet();
    }

    /** So that it is still held at the shutdown that follows, though the machine stalls. */
    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10s")
    void tenSeconds() {
      RAN.incrementAndGet();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m")
    CompletableFuture<String> later() {
      return CompletableFuture.completedFuture("done");
    }

    @Async
    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m")
    CompletableFuture<String> inBackground() {
      return CompletableFuture.completedFuture("done");
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m")
    Mono<String> mono() {
      return Mono.just("done");
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m")
    Flux<String> flux() {
      return Flux.error(new IllegalStateException("fails"));
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m", onBusy = OnBusy.SKIP)
    @SemaphoreGuarded(name = "${test.lock}", slots = 1, onBusy = OnBusy.SKIP)
    void both() {
      RAN.incrementAndGet();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "10m", onBusy = OnBusy.SKIP)
    @SemaphoreGuarded(name = "${test.lock}", slots = 1, onBusy = OnBusy.SKIP)
    Mono<String> bothLater() {
      return Mono.fromSupplier(() -> "ran " + RAN.incrementAndGet());
    }
  }

  @Test
  void aSecondProcessSkipsWorkThatTookNoTime() {
    application.run(
        first ->
            application.run(
                second -> {
                  first.getBean(Work.class).once();
                  second.getBean(Work.class).once();
                  first.getBean(Work.class).once();
                  assertThat(RAN).hasValue(1);
                }));
  }

  /** The timer that would release the lease is one of all applications. */
  @Test
  void aClosedApplicationIsNotKeptInMemory() {
    AtomicReference<@Nullable WeakReference<AmqpLocks>> closed = new AtomicReference<>();
    application.run(
        context -> {
          context.getBean(Work.class).once();
          closed.set(new WeakReference<>(context.getBean(AmqpLocks.class)));
        });
    WeakReference<AmqpLocks> locks = requireNonNull(closed.get());
    await()
        .atMost(LONG)
        .until(
            () -> {
              System.gc();
              return locks.get() == null;
            });
  }

  static class Job {
    @Scheduled(cron = "${test.cron}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, holdAtLeast = "10m")
    void run() {
      RAN.incrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Scheduling {}

  @Test
  void twoProcessesWithTheSameCronTickRunOnce() {
    LocalDateTime tick = LocalDateTime.now(ZoneId.systemDefault()).plusSeconds(45);
    ApplicationContextRunner scheduled =
        application
            .withUserConfiguration(Scheduling.class)
            .withBean(Job.class)
            .withBean(BusyAttempts.class)
            .withPropertyValues(
                "test.cron=" + tick.format(DateTimeFormatter.ofPattern("s m H d M ")) + "*");
    scheduled.run(
        first ->
            scheduled.run(
                second -> {
                  assertThat(LocalDateTime.now(ZoneId.systemDefault())).isBefore(tick);
                  BusyAttempts firsts = first.getBean(BusyAttempts.class);
                  BusyAttempts seconds = second.getBean(BusyAttempts.class);
                  await()
                      .atMost(Duration.ofSeconds(90))
                      .until(
                          () ->
                              RAN.get() == 2
                                  || (RAN.get() == 1 && firsts.number() + seconds.number() > 0));
                  assertThat(RAN).hasValue(1);
                }));
  }

  static List<Named<BiConsumer<Work, LockHandle>>> calls() {
    return List.of(
        Named.of("returns", (work, handle) -> work.once()),
        Named.of("future", (work, handle) -> work.later().join()),
        Named.of("async", (work, handle) -> work.inBackground().join()),
        Named.of("mono", (work, handle) -> work.mono().block(LONG)),
        Named.of("flux", (work, handle) -> work.flux().onErrorComplete().blockLast(LONG)),
        Named.of("execute", (work, handle) -> handle.execute(() -> {})),
        Named.of("tryExecute", (work, handle) -> handle.tryExecute(() -> {})),
        Named.of("acquireAsync", (work, handle) -> handle.acquireAsync().join().close()));
  }

  /** No call would return in the time of the test if it waited for the minimum to be over. */
  @ParameterizedTest
  @MethodSource("calls")
  void theCallerDoesNotWaitAndTheLeaseIsHeldAsAnyOther(BiConsumer<Work, LockHandle> call) {
    application
        .withPropertyValues("amqp-locks.verify-every=100ms")
        .run(
            context -> {
              LockTemplate template = context.getBean(LockTemplate.class);
              LockHandle handle =
                  template.mutex(onBroker.name()).holdAtLeast(Duration.ofMinutes(10));
              call.accept(context.getBean(Work.class), handle);
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              assertThat(locks.status().held()).isEqualTo(1);
              Duration confirmed = locks.leases().get(0).age();
              await()
                  .untilAsserted(
                      () ->
                          assertThat(locks.leases())
                              .singleElement()
                              .satisfies(
                                  lease -> {
                                    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
                                    assertThat(lease.age().minus(lease.unconfirmed()))
                                        .as("it is still verified")
                                        .isGreaterThan(confirmed);
                                  }));
              assertThat(handle.tryAcquire()).isEmpty();
            });
  }

  @Test
  void itIsReleasedWhenTheTimeIsOver() throws InterruptedException {
    try (AmqpLocks stranger = onBroker.stranger()) {
      application.run(
          context -> {
            long begin = System.nanoTime();
            context.getBean(Work.class).threeSeconds();
            try (Lease lease = stranger.mutex(onBroker.name()).acquire(LONG)) {
              assertThat(since(begin)).isGreaterThanOrEqualTo(Duration.ofSeconds(3));
              assertThat(lease.state()).isEqualTo(LeaseState.HELD);
            }
            assertThat(context.getBean(AmqpLocks.class).leases()).isEmpty();
          });
    }
  }

  @Test
  void aGracefulShutdownWaitsForItsEnd() {
    try (AmqpLocks stranger = onBroker.stranger()) {
      CompletableFuture<Lease> next = new CompletableFuture<>();
      AtomicInteger heldAtShutdown = new AtomicInteger();
      long begin = System.nanoTime();
      application
          .withPropertyValues("amqp-locks.shutdown-timeout=60s")
          .run(
              context -> {
                context.getBean(Work.class).tenSeconds();
                heldAtShutdown.set(context.getBean(AmqpLocks.class).status().held());
                var unused =
                    stranger
                        .mutex(onBroker.name())
                        .acquireAsync(LONG)
                        .whenComplete(
                            (lease, failure) -> {
                              if (since(begin).compareTo(Duration.ofSeconds(10)) >= 0) {
                                next.complete(lease);
                              } else {
                                next.completeExceptionally(
                                    new AssertionError("too early", failure));
                              }
                            });
              });
      assertThat(heldAtShutdown).hasValue(1);
      assertThat(since(begin)).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(57));
      next.join().close();
    }
  }

  /** Its own time at shutdown comes first. */
  @Test
  void aShutdownWaitsNoLongerThanItsTimeout() {
    long begin = System.nanoTime();
    application.run(context -> context.getBean(Work.class).once());
    assertThat(since(begin)).isLessThan(Duration.ofMinutes(1));
    try (AmqpLocks stranger = onBroker.stranger()) {
      assertThat(stranger.mutex(onBroker.name()).tryAcquire()).isPresent();
    }
  }

  @Test
  void whatDidNotRunKeepsNothing() {
    onBroker.<Integer>administer(
        admin -> admin.tokenSemaphore(onBroker.name()).createIfAbsent(1, TokenQueueType.QUORUM));
    try (AmqpLocks stranger = onBroker.stranger();
        Lease busy = stranger.tokenSemaphore(onBroker.name()).tryAcquire().orElseThrow()) {
      application.run(
          context -> {
            context.getBean(Work.class).both();
            AmqpLocks locks = context.getBean(AmqpLocks.class);
            assertThat(locks.leases()).extracting(LeaseSnapshot::lock).isEmpty();
            assertThat(context.getBean(Work.class).bothLater().blockOptional(LONG)).isEmpty();
            await().until(() -> locks.leases().isEmpty());
            assertThat(RAN).hasValue(0);
          });
      assertThat(busy.lossReason()).isEmpty();
    }
  }

  private static Duration since(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }
}
