package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableAsync;

/**
 * What calls do in an outage: every policy with every kind of result. All would wait two minutes
 * for a busy lock, and the whole of a test has half a minute for its calls.
 */
@BrokerTest
@ResourceLock(Resources.SYSTEM_OUT) // one captures at a time; others may print
@ExtendWith(OutputCaptureExtension.class)
@Tag("defect-B7")
class OutagePolicyTest {

  private static final Duration SOON = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  @AutoClose private final TcpProxy proxy;
  private final ApplicationContextRunner application;

  OutagePolicyTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    proxy = TcpProxy.to(broker);
    application =
        onBroker
            .application()
            .withPropertyValues(
                "spring.rabbitmq.host=" + proxy.host(),
                "spring.rabbitmq.port=" + proxy.port(),
                "amqp-locks.call-timeout=2s")
            .withUserConfiguration(Background.class)
            .withBean(OutageWork.class);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  static class Background {}

  private void disconnect() {
    proxy.refuse(true);
    proxy.cut();
  }

  /** After a connection that worked, since before the first one every call fails at once. */
  private void inAnOutage(BiConsumer<OutageWork, AssertableApplicationContext> test) {
    application.run(
        context -> {
          OutageWork work = context.getBean(OutageWork.class);
          awaitWork(work, OutageWork::fails);
          disconnect();
          test.accept(work, context);
        });
  }

  /** A busy broker may not answer within the call timeout. Such a call does not run the work. */
  private static void awaitWork(OutageWork work, Function<OutageWork, ?> call) {
    await().ignoreExceptions().until(() -> "work".equals(call.apply(work)));
  }

  private static <T extends @Nullable Object> Named<Function<OutageWork, T>> call(
      String name, Function<OutageWork, T> call) {
    return Named.of(name, call);
  }

  static Stream<Named<Function<OutageWork, Object>>> failing() {
    return Stream.of(
        call("returns", OutageWork::fails),
        call("semaphore", OutageWork::failsOfSemaphore),
        call("future", work -> work.failsLater().join()),
        call("async", work -> work.failsInBackground().join()),
        call("mono", work -> work.failsMono().block()));
  }

  @ParameterizedTest
  @MethodSource("failing")
  void failsAtOnce(Function<OutageWork, Object> call) {
    inAnOutage(
        (work, context) -> {
          LockException first = failure(within(SOON, () -> call.apply(work)));
          assertThat(first).isInstanceOf(LockException.Unreachable.class);
          assertThat(first.lock())
              .get()
              .isIn(LockId.mutex(onBroker.name()), LockId.tokenSemaphore(onBroker.name()));
          // The outage is known by now. Most calls take less time than the call timeout, and so do
          // all of them on the average.
          long begin = System.nanoTime();
          int quick = 0;
          for (int i = 0; i < 20; i++) {
            long callBegin = System.nanoTime();
            LockException next = failure(within(SOON, () -> call.apply(work)));
            quick += System.nanoTime() - callBegin < Duration.ofSeconds(1).toNanos() ? 1 : 0;
            assertThat(next).isInstanceOf(LockException.Unreachable.class);
            assertThat(next.lock()).isEqualTo(first.lock());
          }
          assertThat(quick).isGreaterThan(10);
          assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(SOON);
          assertThat(work.ran()).isEqualTo(1);
          proxy.heal();
          awaitWork(work, call);
          assertThat(context.getBean(AmqpLocks.class).status().waiting()).isZero();
        });
  }

  @ParameterizedTest
  @MethodSource("failing")
  void failsSoonWhereTheBrokerIsSilent(Function<OutageWork, Object> call) {
    application.run(
        context -> {
          OutageWork work = context.getBean(OutageWork.class);
          awaitWork(work, call);
          proxy.blackHole(Direction.BOTH);
          assertThat(failure(within(SOON, () -> call.apply(work))).isOutage()).isTrue();
          assertThat(work.ran()).isEqualTo(1);
          proxy.heal();
          proxy.cut();
        });
  }

  @ParameterizedTest
  @MethodSource("failing")
  void failsWhileItWaitsForABusyLock(Function<OutageWork, Object> call) {
    try (AmqpLocks stranger = onBroker.stranger()) {
      application
          .withPropertyValues("amqp-locks.call-timeout=10s")
          .run(
              context -> {
                OutageWork work = context.getBean(OutageWork.class);
                awaitWork(work, call);
                try (Lease mutex = stranger.mutex(onBroker.name()).acquire(SOON);
                    Lease slot = stranger.tokenSemaphore(onBroker.name()).acquire(SOON)) {
                  CompletableFuture<Object> waiting =
                      CompletableFuture.supplyAsync(() -> call.apply(work));
                  AmqpLocks locks = context.getBean(AmqpLocks.class);
                  await().until(() -> locks.status().waiting() == 1);
                  disconnect();
                  assertThat(failure(waiting.orTimeout(30, java.util.concurrent.TimeUnit.SECONDS)))
                      .isInstanceOf(LockException.Unreachable.class);
                  assertThat(mutex.lossReason()).isEmpty();
                  assertThat(slot.lossReason()).isEmpty();
                }
                assertThat(work.ran()).isEqualTo(1);
              });
    }
  }

  /** One call that waits for the broker is the first in the queue, and the other is behind it. */
  @Test
  void aCallThatWaitsForTheBrokerDoesNotHoldUpOneThatDoesNot() {
    inAnOutage(
        (work, context) -> {
          CompletableFuture<String> patient = CompletableFuture.supplyAsync(work::asConfigured);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          await().until(() -> locks.status().waiting() == 1);
          assertThat(failure(within(SOON, work::fails)).isOutage()).isTrue();
          assertThat(patient).isNotDone();
          proxy.heal();
          assertThat(within(SOON, patient::join).join()).isEqualTo("work");
        });
  }

  @Test
  void withoutAPolicyItWaitsForTheBroker() {
    inAnOutage(
        (work, context) -> {
          long begin = System.nanoTime();
          assertThat(failure(within(SOON, work::waits)).isOutage()).isTrue();
          assertThat(Duration.ofNanos(System.nanoTime() - begin))
              .isGreaterThanOrEqualTo(Duration.ofSeconds(2));
        });
  }

  @Test
  void skipReturnsNothing() {
    inAnOutage(
        (work, context) -> {
          assertThat(within(SOON, work::skips).join()).isEmpty();
          assertThat(within(SOON, () -> work.skipsLater().join()).join()).isNull();
          assertThat(within(SOON, () -> work.skipsInBackground().join()).join()).isNull();
          assertThat(work.skipsFlux().collectList().block(SOON)).isEmpty();
          assertThat(work.ran()).isEqualTo(1);
        });
  }

  @Test
  void theFallbackIsCalledInstead() {
    inAnOutage(
        (work, context) -> {
          assertThat(within(SOON, () -> work.fallsBack("this")).join())
              .isEqualTo("this in an outage");
          assertThat(within(SOON, () -> work.fallsBackLater().join()).join()).isEqualTo("later");
          assertThat(within(SOON, () -> work.fallsBackInBackground().join()).join())
              .isEqualTo("later");
          assertThat(work.fallsBackMono().block(SOON)).isEqualTo("later");
          assertThat(work.ran()).isEqualTo(1);
        });
  }

  @Test
  void runWorksWithoutTheLockAndSaysSo(CapturedOutput output) {
    int before = output.getOut().length();
    // It says so again after 10 s, which may be over at the second call on a machine that stalls.
    for (int again = 0;
        runWithoutTheLock().compareTo(Duration.ofSeconds(10)) >= 0 && again < 3;
        again++) {
      proxy.heal();
      before = output.getOut().length();
    }
    assertThat(output.getOut().substring(before).lines())
        .filteredOn(line -> line.contains("OutageWork.runs() runs without"))
        .filteredOn(line -> line.contains("mutex '" + onBroker.name() + "'"))
        .singleElement()
        .asString()
        .contains("WARN")
        // A call may still meet the end of the connection.
        .containsAnyOf("No connection to RabbitMQ", "The connection to RabbitMQ broke");
  }

  /** Returns how long two calls of one method took. */
  private Duration runWithoutTheLock() {
    AtomicLong nanos = new AtomicLong();
    inAnOutage(
        (work, context) -> {
          long begin = System.nanoTime();
          assertThat(within(SOON, work::runs).join()).isEqualTo("work");
          assertThat(within(SOON, work::runs).join()).isEqualTo("work");
          nanos.set(System.nanoTime() - begin);
          assertThat(within(SOON, () -> work.runsLater().join()).join()).isEqualTo("work");
          assertThat(within(SOON, () -> work.runsInBackground().join()).join()).isEqualTo("work");
          assertThat(work.runsFlux().collectList().block(SOON)).containsExactly("work");
          assertThat(unguarded(context, "mutex")).isEqualTo(5);
          assertThat(work.runsWithoutBoth().block(SOON)).isEqualTo("work");
          assertThat(unguarded(context, "mutex")).isEqualTo(6);
          assertThat(unguarded(context, "token semaphore")).isEqualTo(1);
          assertThat(work.ran()).isEqualTo(7);
        });
    return Duration.ofNanos(nanos.get());
  }

  static Stream<Named<Function<OutageWork, Object>>> withoutTheSecond() {
    return Stream.of(
        call("returns", OutageWork::runsWithoutTheSecond),
        call("mono", work -> work.runsWithoutTheSecondMono().block(SOON)));
  }

  /** The first lock is held when the connection breaks, and the second one is waited for. */
  @ParameterizedTest
  @MethodSource("withoutTheSecond")
  void runIsOfOneLockAndNotOfTheOtherThatWasLostMeanwhile(Function<OutageWork, Object> call) {
    try (AmqpLocks stranger = onBroker.stranger()) {
      application
          .withPropertyValues("amqp-locks.call-timeout=10s")
          .run(
              context -> {
                OutageWork work = context.getBean(OutageWork.class);
                AmqpLocks locks = context.getBean(AmqpLocks.class);
                try (Lease second = stranger.mutex(onBroker.name() + "-two").acquire(SOON)) {
                  CompletableFuture<Object> waiting =
                      CompletableFuture.supplyAsync(() -> call.apply(work));
                  await().until(() -> locks.status().held() == 1 && locks.status().waiting() == 1);
                  disconnect();
                  assertThat(failure(waiting.orTimeout(30, java.util.concurrent.TimeUnit.SECONDS)))
                      .isInstanceOf(LockException.Lost.class);
                  assertThat(second.lossReason()).isEmpty();
                }
                assertThat(work.ran()).isZero();
              });
    }
  }

  /** They do without the mutex, and have no slot. */
  @Test
  void callsThatDoNotRunAreNotCountedAsUnguarded() {
    inAnOutage(
        (work, context) -> {
          assertThat(failure(within(SOON, work::needsASlot)).isOutage()).isTrue();
          assertThat(failure(within(SOON, () -> work.needsASlotLater().block(SOON))).isOutage())
              .isTrue();
          assertThat(unguarded(context, "mutex")).isZero();
          assertThat(work.ran()).isEqualTo(1);
        });
  }

  private double unguarded(AssertableApplicationContext context, String type) {
    return context
        .getBean(MeterRegistry.class)
        .get("amqp.locks.unguarded")
        .tags("amqp.locks.name", onBroker.name(), "amqp.locks.type", type)
        .counter()
        .count();
  }

  @Test
  void aBusyLockIsNoOutage() {
    application
        .withPropertyValues("amqp-locks.call-timeout=10s")
        .run(
            context -> {
              OutageWork work = context.getBean(OutageWork.class);
              try (Lease other =
                  context.getBean(LockTemplate.class).mutex(onBroker.name()).acquire()) {
                assertThat(catchThrowable(work::runsUnlessBusy))
                    .isInstanceOf(LockException.AcquireTimeout.class);
                assertThat(work.fallsBack("this")).isEqualTo("this while busy");
                assertThat(other.lossReason()).isEmpty();
              }
              assertThat(work.ran()).isZero();
              assertThat(unguarded(context, "mutex")).isZero();
            });
  }

  @Test
  void aPropertyIsForAllThatDoNotSay() {
    Consumer<AssertableApplicationContext> test =
        context -> {
          OutageWork work = context.getBean(OutageWork.class);
          assertThat(work.asConfigured()).isEqualTo("work");
          disconnect();
          assertThat(within(SOON, work::asConfigured).join()).isEqualTo("work");
          assertThat(failure(within(SOON, work::fails)).isOutage()).isTrue();
        };
    application.withPropertyValues("amqp-locks.annotations.on-unavailable=run").run(test::accept);
  }

  @Test
  void aSemaphoreThatCouldNotBeCreatedAtTheStart() {
    proxy.refuse(true);
    application.run(
        context -> {
          OutageWork work = context.getBean(OutageWork.class);
          assertThat(failure(within(SOON, work::failsOfSemaphore)).isOutage()).isTrue();
          assertThat(work.runsWithoutBoth().block(SOON)).isEqualTo("work");
        });
  }

  /**
   * An attempt to connect takes 2 s to fail, and each key here is a new one, whose semaphore is to
   * be created.
   */
  @Test
  void newKeysDoNotWaitForTheBrokerEither() {
    inAnOutage(
        (work, context) -> {
          proxy.refuse(false);
          proxy.blackHole(Direction.BOTH);
          Supplier<Boolean> all =
              () -> {
                for (int key = 0; key < 40; key++) {
                  int each = key;
                  assertThat(failure(within(SOON, () -> work.failsOfKey(each))).isOutage())
                      .isTrue();
                  assertThat(failure(work.failsOfKeyLater(100 + key)).isOutage()).isTrue();
                }
                return true;
              };
          assertThat(within(SOON, all).join()).isTrue();
          // Known until the next attempt is due, so not at every moment.
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          await()
              .until(
                  () ->
                      failure(within(SOON, () -> work.failsOfKey(0))).isOutage()
                          && locks.outage().isPresent());
          assertThat(work.ran()).isEqualTo(1);
          proxy.heal();
          proxy.cut();
          await().ignoreExceptions().until(() -> work.failsOfKey(1).equals("work"));
          assertThat(locks.outage()).isEmpty();
        });
  }

  private static <T extends @Nullable Object> CompletableFuture<T> within(
      Duration time, Supplier<T> call) {
    CompletableFuture<T> called = CompletableFuture.supplyAsync(call);
    await().pollInterval(Duration.ofMillis(10)).atMost(time).until(called::isDone);
    return called;
  }

  private static LockException failure(CompletableFuture<?> call) {
    Throwable thrown = catchThrowable(call::join);
    while (thrown instanceof CompletionException && thrown.getCause() != null) {
      thrown = thrown.getCause();
    }
    assertThat(thrown).isInstanceOf(LockException.class);
    return (LockException) thrown;
  }
}
