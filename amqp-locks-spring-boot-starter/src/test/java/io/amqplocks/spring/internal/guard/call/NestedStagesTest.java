package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Nested calls whose work goes on after the method has returned. */
@BrokerTest
@ResourceLock(Resources.SYSTEM_OUT) // one captures at a time; others may print
@ExtendWith(OutputCaptureExtension.class)
class NestedStagesTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  NestedStagesTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    /** Goes on for a while; notes how many do so at once. */
    Mono<String> overlapping(String result) {
      return Mono.fromSupplier(() -> most.accumulateAndGet(inside.incrementAndGet(), Math::max))
          .delayElement(Duration.ofMillis(500))
          .map(
              noted -> {
                inside.decrementAndGet();
                return result;
              });
    }

    int most() {
      return most.get();
    }

    @MutexGuarded(name = "${test.lock}")
    <T> Mono<T> mono(Supplier<Mono<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    Mono<String> impatient() {
      return Mono.just("done");
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "1m")
    <T> Mono<T> limited(Supplier<Mono<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "1h")
    <T> Mono<T> keeping(Supplier<Mono<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}")
    <T> Flux<T> flux(Supplier<Flux<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}")
    <T> CompletableFuture<T> stage(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}-another")
    <T> CompletableFuture<T> stageOfAnother(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}")
    <T> T plain(Supplier<T> work) {
      return work.get();
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    String plainAtOnce() {
      return "done";
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 2, permitsExpression = "#permits")
    <T> Mono<T> semaphore(int permits, Supplier<Mono<T>> work) {
      return work.get();
    }

    @Async
    @MutexGuarded(name = "${test.lock}")
    <T> CompletableFuture<T> async(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    @Async("here")
    @MutexGuarded(name = "${test.lock}")
    <T> CompletableFuture<T> asyncHere(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    @Async("here")
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    void asyncHereWithoutResult(Runnable work) {
      work.run();
    }
  }

  @EnableAsync
  static class Application {
    /** As one whose queue is full does by {@code CallerRunsPolicy}. */
    @Bean
    TaskExecutor here() {
      return new SyncTaskExecutor();
    }

    @Bean
    TaskExecutor taskExecutor() {
      return new SimpleAsyncTaskExecutor();
    }
  }

  private interface Body {
    void of(Work work, AmqpLocks locks) throws Exception;
  }

  private void run(Body test) {
    onBroker
        .application()
        .withUserConfiguration(Application.class)
        .withBean(Work.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              test.of(context.getBean(Work.class), locks);
              assertThat(LeaseScope.current()).isNull();
              await().until(() -> locks.status().held() == 0 && locks.status().waiting() == 0);
            });
  }

  @Test
  void aPublisherJoinsByTheSubscribersContext() {
    run(
        (work, locks) -> {
          Mono<Integer> held = Mono.fromSupplier(() -> locks.status().held());
          assertThat(work.mono(() -> work.mono(() -> work.mono(() -> held))).block(LONG))
              .isEqualTo(1);
          assertThat(
                  work.flux(() -> Flux.just(1, 2).concatMap(each -> work.mono(() -> held)))
                      .collectList()
                      .block(LONG))
              .containsExactly(1, 1);
          assertThat(
                  work.mono(
                          () ->
                              Mono.just(1)
                                  .delayElement(Duration.ofMillis(1))
                                  .then(work.impatient()))
                      .block(LONG))
              .isEqualTo("done");
        });
  }

  @Test
  void publishersInParallelAreUnderTheMutexOneAtATime() {
    run(
        (work, locks) -> {
          List<String> done =
              work.flux(
                      () ->
                          Flux.range(1, 4)
                              .flatMap(i -> work.mono(() -> work.overlapping("done " + i))))
                  .collectList()
                  .block(LONG);
          assertThat(done).containsExactlyInAnyOrder("done 1", "done 2", "done 3", "done 4");
          assertThat(work.most()).isEqualTo(1);
        });
  }

  @Test
  void publishersInParallelShareThePermits() {
    run(
        (work, locks) -> {
          Flux<String> four =
              Flux.range(1, 4).flatMap(i -> work.semaphore(1, () -> work.overlapping("done " + i)));
          assertThat(work.semaphore(2, four::collectList).block(LONG)).hasSize(4);
          assertThat(work.most()).isEqualTo(2);
        });
  }

  @Test
  void whoGivesUpLeavesTheOthersTheirTurn() {
    run(
        (work, locks) -> {
          CompletableFuture<String> left = new CompletableFuture<>();
          Mono<String> first =
              work.mono(() -> Mono.fromFuture(left).then(work.overlapping("first")));
          Mono<String> cancelled =
              work.mono(() -> Mono.<String>never())
                  .timeout(Duration.ofMillis(20), Mono.just("left"))
                  .doFinally(end -> left.complete("left"));
          Mono<String> last = work.mono(() -> work.overlapping("last"));
          assertThat(work.flux(() -> Flux.merge(first, cancelled, last)).collectList().block(LONG))
              .containsExactly("left", "first", "last");
          assertThat(work.most()).isEqualTo(1);
        });
  }

  @Test
  void aPublisherThatDoesNotWaitFindsTheMutexInUseByItsSibling() {
    run(
        (work, locks) ->
            assertThatExceptionOfType(LockException.AcquireTimeout.class)
                .isThrownBy(
                    () ->
                        work.flux(
                                () ->
                                    Flux.merge(
                                        work.mono(() -> Mono.<String>never()), work.impatient()))
                            .blockLast(LONG))
                .withMessageContaining("another call that is part of the same work"));
  }

  @Test
  void aCancelledOuterPublisherGivesAllBack() {
    run(
        (work, locks) -> {
          List<String> seen = new CopyOnWriteArrayList<>();
          var subscription =
              work.mono(
                      () ->
                          work.mono(
                              () -> {
                                seen.add("inner");
                                return Mono.never();
                              }))
                  .subscribe();
          await().until(() -> !seen.isEmpty());
          subscription.dispose();
          await().until(() -> locks.status().held() == 0);
        });
  }

  @Test
  void blockingCallsJoinWhileTheMethodItselfRuns() {
    run(
        (work, locks) -> {
          assertThat(work.mono(() -> Mono.just(work.plainAtOnce())).block(LONG)).isEqualTo("done");
          assertThat(
                  work.stage(() -> CompletableFuture.completedFuture(work.plainAtOnce()))
                      .get(30, TimeUnit.SECONDS))
              .isEqualTo("done");
          assertThat(
                  work.async(() -> CompletableFuture.completedFuture(work.plainAtOnce()))
                      .get(30, TimeUnit.SECONDS))
              .isEqualTo("done");
        });
  }

  @Test
  void aStageJoinsThatOfTheMethodThatCallsIt() {
    run(
        (work, locks) -> {
          Supplier<CompletableFuture<Integer>> held =
              () -> CompletableFuture.supplyAsync(() -> locks.status().held());
          assertThat(work.stage(() -> work.stage(() -> work.stage(held))).get(30, TimeUnit.SECONDS))
              .isEqualTo(1);
          assertThat(work.stage(() -> work.mono(() -> Mono.fromFuture(held)).toFuture()).join())
              .isEqualTo(1);
        });
  }

  @Test
  void stagesInParallelAreUnderTheMutexOneAtATime() {
    run(
        (work, locks) -> {
          work.stage(
                  () ->
                      CompletableFuture.allOf(
                          work.stage(() -> work.overlapping("one").toFuture()),
                          work.stage(() -> work.overlapping("two").toFuture())))
              .get(30, TimeUnit.SECONDS);
          assertThat(work.most()).isEqualTo(1);
        });
  }

  /** Nobody waits for it, and the mutex is its all the same. */
  @Test
  void aStageThatOutlivesTheOuterCallKeepsTheLease() {
    run(
        (work, locks) -> {
          CompletableFuture<String> end = new CompletableFuture<>();
          CompletableFuture<?>[] inner = new CompletableFuture<?>[1];
          work.stage(
                  () -> {
                    inner[0] = work.stage(() -> end);
                    return CompletableFuture.completedFuture("outer");
                  })
              .get(30, TimeUnit.SECONDS);
          assertThatExceptionOfType(LockException.AcquireTimeout.class)
              .isThrownBy(work::plainAtOnce);
          end.complete("inner");
          inner[0].get(30, TimeUnit.SECONDS);
          await().until(() -> locks.status().held() == 0);
        });
  }

  /** It works beside the thread that holds the mutex, and would not be excluded by it. */
  @Test
  void aStageDoesNotJoinAMethodThatWorksUntilItReturns(CapturedOutput output) {
    run(
        (work, locks) -> {
          CompletableFuture<String> begun = new CompletableFuture<>();
          List<CompletableFuture<String>> inner = new ArrayList<>();
          work.plain(
              () ->
                  inner.add(
                      work.stage(
                          () -> {
                            begun.complete("begun");
                            return begun;
                          })));
          work.plain(
              () -> {
                inner.add(work.stage(() -> CompletableFuture.completedFuture("second")));
                await().until(() -> locks.status().waiting() == 1);
                return assertThat(inner.get(1)).isNotDone();
              });
          assertThat(inner.get(1).get(30, TimeUnit.SECONDS)).isEqualTo("second");
          assertThat(inner.get(0).get(30, TimeUnit.SECONDS)).isEqualTo("begun");
        });
    assertThat(output)
        .containsOnlyOnce("is called by a method that holds the mutex '" + onBroker.name() + "'");
  }

  /** Its body runs on a thread of its own, beside the one that holds the mutex. */
  @Test
  void aStageDoesNotInheritWhatTheThreadHolds() {
    run(
        (work, locks) ->
            assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(
                    () ->
                        work.plain(
                            () ->
                                work.stageOfAnother(
                                        () -> CompletableFuture.completedFuture(work.plainAtOnce()))
                                    .join()))
                .withCauseInstanceOf(LockException.AcquireTimeout.class));
  }

  /** It would wait in the call for what its own caller holds. */
  @Test
  void anAsyncMethodOnTheHoldersThreadFailsAtOnce(CapturedOutput output) {
    run(
        (work, locks) -> {
          AtomicInteger ran = new AtomicInteger();
          Supplier<CompletableFuture<Integer>> task =
              () -> CompletableFuture.completedFuture(ran.incrementAndGet());
          CompletableFuture<Integer> inner = work.plain(() -> List.of(work.asyncHere(task))).get(0);
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(inner::join)
              .havingCause()
              .isInstanceOf(LockException.Invalid.class)
              .withMessageContaining("Work.asyncHere")
              .withMessageContaining("holds the mutex '" + onBroker.name() + "'")
              .withMessageContaining("threads of its own");
          assertThatExceptionOfType(CompletionException.class)
              .as("what it could join is lent to its own caller")
              .isThrownBy(
                  () ->
                      work.stage(() -> work.plain(() -> List.of(work.asyncHere(task))).get(0))
                          .join())
              .havingCause()
              .isInstanceOf(LockException.Invalid.class);
          assertThat(ran).hasValue(0);
        });
    assertThat(output)
        .doesNotContain("is called by a method that holds the mutex '" + onBroker.name() + "'");
  }

  @Test
  void anAsyncMethodOnTheThreadOfAStageJoinsIt() {
    run(
        (work, locks) -> {
          Supplier<CompletableFuture<Integer>> held =
              () -> CompletableFuture.completedFuture(locks.status().held());
          assertThat(work.stage(() -> work.asyncHere(held)).get(30, TimeUnit.SECONDS)).isEqualTo(1);
          assertThat(work.asyncHere(held).get(30, TimeUnit.SECONDS)).isEqualTo(1);
        });
  }

  @Test
  void anAsyncMethodWithoutAResultJoinsOnTheHoldersThread() {
    run(
        (work, locks) -> {
          AtomicInteger held = new AtomicInteger();
          work.plain(
              () -> {
                work.asyncHereWithoutResult(() -> held.set(locks.status().held()));
                return "done";
              });
          assertThat(held).hasValue(1);
        });
  }

  @Test
  void moreThanTheOuterHasFailsTheStage() {
    run(
        (work, locks) ->
            assertThatExceptionOfType(LockException.Invalid.class)
                .isThrownBy(
                    () ->
                        work.semaphore(1, () -> work.semaphore(2, () -> Mono.just("never")))
                            .block(LONG))
                .withMessageContaining("let the outer call acquire 2"));
  }

  @Test
  void aMinimumHoldAboveTheOutersLimitFailsThePublisher() {
    run(
        (work, locks) ->
            assertThatExceptionOfType(LockException.Invalid.class)
                .isThrownBy(
                    () ->
                        work.limited(() -> work.mono(() -> work.keeping(() -> Mono.just("never"))))
                            .block(LONG))
                .withMessageContaining("for PT1H at least"));
  }

  @Test
  void whatIsChainedToAStageIsNoPartOfIt() {
    run(
        (work, locks) -> {
          CompletableFuture<String> gate = new CompletableFuture<>();
          CompletableFuture<String> chained = new CompletableFuture<>();
          CompletableFuture<String> outer =
              work.stage(
                  () -> {
                    CompletableFuture<String> result = gate.thenApply(go -> work.plainAtOnce());
                    chained.complete("chained");
                    return result;
                  });
          chained.get(30, TimeUnit.SECONDS);
          gate.complete("ready");
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(outer::join)
              .withCauseInstanceOf(LockException.AcquireTimeout.class);
        });
  }
}
