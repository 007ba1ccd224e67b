package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.Workers;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A call that weighs more than one slot: by a number, by an expression, and by a template. */
@BrokerTest(everyLine = true)
class PermitsGuardTest {

  /** Cut off to a long, it would be 5. */
  private static final BigInteger HUGE = BigInteger.ONE.shiftLeft(64).add(BigInteger.valueOf(5));

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  PermitsGuardTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application = onBroker.application().withBean(Work.class);
  }

  static class Work {
    @SemaphoreGuarded(name = "${test.lock}", slots = 5, permits = 3, onBusy = OnBusy.SKIP)
    @Nullable String three(Callable<String> work) throws Exception {
      return work.call();
    }

    @SemaphoreGuarded(
        name = "${test.lock}",
        permitsExpression = "#images.size()",
        onBusy = OnBusy.SKIP)
    @Nullable String each(
        List<String> images, Function<Lease, String> work, @Nullable Lease lease) {
      return work.apply(requireNonNull(lease));
    }

    @SemaphoreGuarded(name = "${test.lock}", permitsExpression = "#weight")
    CompletableFuture<String> future(int weight, CompletableFuture<String> work) {
      return work;
    }

    @SemaphoreGuarded(name = "${test.lock}", permits = 4)
    Mono<String> mono(Mono<String> work) {
      return work;
    }

    @SemaphoreGuarded(name = "${test.lock}", permits = 5)
    Flux<String> flux(Flux<String> work) {
      return work;
    }

    @SemaphoreGuarded(name = "${test.lock}", permitsExpression = "#weight", onBusy = OnBusy.THROW)
    void weighs(Object weight) {}
  }

  static class TooMuch {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2, permits = 3)
    void work() {}
  }

  static class TooMuchOfAny {
    @SemaphoreGuarded(name = "${test.lock}", slots = 200, permits = 101)
    void work() {}
  }

  static class TooMuchOfAnother {
    @SemaphoreGuarded(name = "${test.lock}", permits = 3)
    void work() {}
  }

  static class TooMuchOfAKey {
    @SemaphoreGuarded(name = "${test.lock}", key = "#key", slots = 2, permits = 3)
    void work(String key) {}
  }

  @ParameterizedTest
  @ValueSource(strings = {"tokens", "slots"})
  void aCallHoldsThatMany(String algorithm) {
    application
        .withPropertyValues("amqp-locks.semaphore-algorithm=" + algorithm)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              assertThat(
                      work.three(
                          () ->
                              "three, and "
                                  + Workers.elsewhere(
                                      () ->
                                          work.each(
                                              List.of("a", "b"),
                                              lease -> "" + lease.permits(),
                                              null))
                                  + ", not "
                                  + Workers.elsewhere(
                                      () ->
                                          work.each(
                                              List.of("a", "b", "c"), lease -> "three", null))))
                  .isEqualTo("three, and 2, not null");
              // Tokens go back by messages that nobody waits for.
              await()
                  .untilAsserted(
                      () ->
                          assertThat(work.three(() -> "" + locks.leases().get(0).permits()))
                              .isEqualTo("3"));
              assertThat(locks.leases()).isEmpty();
            });
  }

  @Test
  void untilTheFutureOrThePublisherEnds() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          CompletableFuture<String> four = new CompletableFuture<>();
          CompletableFuture<String> result = work.future(4, four);
          await().until(() -> locks.leases().size() == 1);
          assertThat(locks.leases().get(0).permits()).isEqualTo(4);
          assertThat(work.three(() -> "not reached")).isNull();
          four.complete("done");
          assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
          assertThat(locks.leases()).isEmpty();

          Sinks.One<String> one = Sinks.one();
          CompletableFuture<@Nullable String> mono = work.mono(one.asMono()).toFuture();
          await().until(() -> locks.leases().size() == 1);
          assertThat(locks.leases().get(0).permits()).isEqualTo(4);
          CompletableFuture<@Nullable List<String>> flux =
              work.flux(Flux.just("a", "b")).collectList().toFuture();
          await().until(() -> locks.status().waiting() == 1);
          assertThat(one.tryEmitValue("done").isSuccess()).isTrue();
          assertThat(mono.get(30, TimeUnit.SECONDS)).isEqualTo("done");
          assertThat(flux.get(30, TimeUnit.SECONDS)).containsExactly("a", "b");
          await().until(() -> locks.leases().isEmpty());

          // One that is cancelled while it waits leaves nothing behind.
          CompletableFuture<String> never = new CompletableFuture<>();
          CompletableFuture<String> holding = work.future(3, never);
          await().until(() -> locks.leases().size() == 1);
          CompletableFuture<String> waiting = work.future(4, never);
          await().until(() -> locks.status().waiting() == 1);
          waiting.cancel(true);
          await().until(() -> locks.status().waiting() == 0);
          never.complete("done");
          assertThat(holding.get(30, TimeUnit.SECONDS)).isEqualTo("done");
          assertThat(work.flux(Flux.just("a")).blockLast()).isEqualTo("a");
        });
  }

  @Test
  void anExpressionMustYieldAWholeNumber() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          for (Object weight : new Object[] {0, -1, 1.5, "2", 101L, HUGE}) {
            assertThatThrownBy(() -> work.weighs(weight))
                .isInstanceOf(LockException.Invalid.class)
                .hasMessageContaining("The permitsExpression '#weight' of a lock of ")
                .hasMessageContaining("weighs() is " + weight)
                .hasMessageContaining("a whole number from 1 to 100");
          }
          for (Object weight : new Object[] {(byte) 5, (short) 5, 5, 5L, BigInteger.valueOf(5)}) {
            // The tokens of the call before go back by messages that nobody waits for.
            await()
                .ignoreExceptionsInstanceOf(LockException.AcquireTimeout.class)
                .untilAsserted(() -> work.weighs(weight));
          }
          assertThatThrownBy(() -> work.weighs(6))
              .isInstanceOf(LockException.Conflict.class)
              .hasMessageContaining("it has 5 slots");
        });
  }

  @Test
  void templatesAndHandles() {
    application.run(
        context -> {
          LockHandle semaphore = context.getBean(LockOperations.class).semaphore(onBroker.name());
          try (Lease four = semaphore.withPermits(4).acquire()) {
            assertThat(four.permits()).isEqualTo(4);
            assertThat(four.state()).isEqualTo(LeaseState.HELD);
            assertThat(semaphore.withPermits(2).tryExecute(() -> {})).isFalse();
            // It may have had the only idle token, which goes back by a message.
            await().until(() -> semaphore.tryExecute(() -> {}));
          }
          assertThat(
                  semaphore
                      .withPermits(5)
                      .executeAsync(() -> CompletableFuture.completedFuture("all"))
                      .get(30, TimeUnit.SECONDS))
              .isEqualTo("all");
        });
  }

  private void doesNotStart(Class<?> work) {
    onBroker
        .application()
        .withBean(work)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    // It has a failure analysis.
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining(work.getName() + ".work() wants 3 permits of the token")
                    .hasMessageContaining("it has 2 slots: want 2 at most")
                    .hasMessageContaining("amqp-locks.semaphores." + onBroker.name() + ".slots"));
  }

  @ParameterizedTest
  @ValueSource(classes = {TooMuch.class, TooMuchOfAKey.class})
  void morePermitsThanSlotsStopTheStart(Class<?> work) {
    doesNotStart(work);
    // Nothing is left behind that the next start, with other numbers, would find.
    int slots =
        onBroker.administer(
            admin -> admin.semaphore(LockId.tokenSemaphore(onBroker.name())).count());
    assertThat(slots).isZero();
  }

  @Test
  void anExistingSemaphoreWithEnoughSlotsIsEnough() {
    Integer three =
        onBroker.administer(
            admin ->
                admin.tokenSemaphore(onBroker.name()).createIfAbsent(3, TokenQueueType.QUORUM));
    assertThat(three).isEqualTo(3);
    onBroker
        .application()
        .withBean(TooMuch.class)
        .run(context -> assertThat(context).hasNotFailed());
  }

  /** A resize that the failed start began would take slots from others. */
  @Test
  void anExistingSemaphoreIsNotResizedForAStartThatFails() {
    Integer three =
        onBroker.administer(
            admin ->
                admin.tokenSemaphore(onBroker.name()).createIfAbsent(3, TokenQueueType.QUORUM));
    assertThat(three).isEqualTo(3);
    onBroker
        .application()
        .withPropertyValues("amqp-locks.semaphores." + onBroker.name() + ".on-mismatch=resize")
        .withBean(TooMuch.class)
        .run(context -> assertThat(context).hasFailed());
    int slots =
        onBroker.administer(
            admin -> admin.semaphore(LockId.tokenSemaphore(onBroker.name())).count());
    assertThat(slots).isEqualTo(3);
  }

  @Test
  void morePermitsThanALeaseCanHaveStopTheStart() {
    onBroker
        .application()
        .withBean(TooMuchOfAny.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("permits must be 1 to 100, and not 101"));
  }

  /** The number of slots that counts is the broker's. */
  @Test
  void theBrokersNumberCounts() {
    Integer two =
        onBroker.administer(
            admin ->
                admin.tokenSemaphore(onBroker.name()).createIfAbsent(2, TokenQueueType.QUORUM));
    assertThat(two).isEqualTo(2);
    doesNotStart(TooMuchOfAnother.class);
    SlotChange three =
        onBroker.administer(admin -> admin.tokenSemaphore(onBroker.name()).resize(3));
    assertThat(three.after()).isEqualTo(3);
    onBroker
        .application()
        .withBean(TooMuch.class)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void anApplicationStartsWithoutTheBroker() {
    onBroker
        .application()
        .withBean(TooMuchOfAnother.class)
        .withPropertyValues("spring.rabbitmq.port=1")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void leasesOfLocksThatAreSwitchedOffHaveThatManyToo() {
    try (Lease lease = LockTemplate.withoutLocks().semaphore("any").withPermits(7).acquire()) {
      assertThat(lease.permits()).isEqualTo(7);
    }
  }
}
