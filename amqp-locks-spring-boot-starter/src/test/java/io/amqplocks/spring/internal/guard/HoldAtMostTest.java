package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.spring.LeaseLostEvent;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Mono;

/** Guarded methods that hang, beside another process that wants their locks. */
@BrokerTest
class HoldAtMostTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  HoldAtMostTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withPropertyValues("test.limit=5s")
            .withBean(Work.class)
            .withBean(Losses.class);
  }

  static class Losses {
    private final List<LeaseLostEvent> seen = new CopyOnWriteArrayList<>();

    List<LeaseLostEvent> seen() {
      return seen;
    }

    @EventListener
    void lost(LeaseLostEvent event) {
      seen.add(event);
    }
  }

  /** Hangs until the test ends it. */
  static class Work {
    private final CountDownLatch end = new CountDownLatch(1);

    void end() {
      end.countDown();
    }

    private String hang() throws InterruptedException {
      assertThat(end.await(1, TimeUnit.MINUTES)).isTrue();
      return "done";
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "${test.limit}")
    String notified() throws InterruptedException {
      return hang();
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "${test.limit}", onLost = OnLost.FAIL)
    String failing() throws InterruptedException {
      return hang();
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "${test.limit}", onLost = OnLost.INTERRUPT)
    String interrupted() throws InterruptedException {
      return hang();
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "${test.limit}", onLost = OnLost.FAIL)
    CompletableFuture<String> future() throws InterruptedException {
      return CompletableFuture.completedFuture(hang());
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "${test.limit}", onLost = OnLost.FAIL)
    Mono<String> mono() {
      return Mono.fromCallable(this::hang);
    }

    @MutexGuarded(
        name = "${test.lock}",
        holdAtLeast = "100ms",
        holdAtMost = "${test.limit}",
        onLost = OnLost.FAIL)
    String withMinimum() throws InterruptedException {
      return hang();
    }

    @SemaphoreGuarded(
        name = "${test.lock}",
        slots = 2,
        permits = 2,
        fenced = true,
        holdAtMost = "${test.limit}",
        onLost = OnLost.FAIL)
    String bothSlots() throws InterruptedException {
      return hang();
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "1m")
    String quick() {
      return "quick";
    }
  }

  @FunctionalInterface
  interface Call {
    String of(Work work) throws InterruptedException;
  }

  private static Named<Call> call(String name, Call call) {
    return Named.of(name, call);
  }

  static Stream<Named<Call>> failing() {
    return Stream.of(
        call("synchronous", Work::failing),
        call("interrupted", Work::interrupted),
        call("future", work -> work.future().join()),
        call("mono", work -> requireNonNull(work.mono().block(LONG))),
        call("above a minimum", Work::withMinimum),
        call("permits", Work::bothSlots));
  }

  private static CompletableFuture<String> begin(Call call, Work work) {
    CompletableFuture<String> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call.of(work));
              } catch (CompletionException e) {
                result.completeExceptionally(e.getCause());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    thread.start();
    return result;
  }

  private void whileItHangs(Call call, Consumer<CompletableFuture<String>> then) {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          try (AmqpLocks stranger = onBroker.stranger()) {
            CompletableFuture<String> called = begin(call, work);
            List<LeaseLostEvent> losses = context.getBean(Losses.class).seen();
            await().atMost(LONG).until(() -> !losses.isEmpty());
            assertThat(losses)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason().cause()).isEqualTo(Cause.HOLD_LIMIT));
            LockHandle lock =
                losses.get(0).lease().lock().kind().family().toString().contains("MUTEX")
                    ? new LockHandle(stranger.mutex(onBroker.name()), LONG)
                    : new LockHandle(stranger.tokenSemaphore(onBroker.name()).withPermits(2), LONG);
            try (Lease next = lock.acquire()) {
              work.end();
              then.accept(called);
              assertThat(next.verify()).isEqualTo(LeaseState.HELD);
            }
            assertThat(losses).hasSize(1);
          } finally {
            work.end();
          }
        });
  }

  @ParameterizedTest
  @MethodSource("failing")
  void othersGoOnAndTheCallerIsTold(Call call) {
    whileItHangs(
        call,
        called ->
            assertThat(called)
                .failsWithin(LONG)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockException.Lost.class)
                .withMessageContaining("HOLD_LIMIT")
                .withMessageContaining("held for PT5S, the longest that it may"));
  }

  @Test
  void byDefaultTheResultPasses() {
    whileItHangs(
        Work::notified, called -> assertThat(called).succeedsWithin(LONG).isEqualTo("done"));
  }

  @Test
  void whoEndsEarlyLosesNothing() {
    application.run(
        context -> {
          assertThat(context.getBean(Work.class).quick()).isEqualTo("quick");
          assertThat(context.getBean(Losses.class).seen()).isEmpty();
          assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
        });
  }

  @Test
  void aHandleHasItToo() {
    application.run(
        context -> {
          LockTemplate template = context.getBean(LockTemplate.class);
          LockHandle handle = template.mutex(onBroker.name());
          try (Lease lease = handle.holdAtMost(Duration.ofMillis(300)).acquire()) {
            assertThat(lease.whenLost()).succeedsWithin(LONG);
          }
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> handle.holdAtMost(Duration.ZERO))
              .withMessageContaining("mutex '" + onBroker.name() + "'");
          LockHandle limited = handle.holdAtMost(Duration.ofSeconds(5));
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> limited.holdAtLeast(Duration.ofSeconds(5)))
              .withMessageContaining("not above the shortest");
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(
                  () ->
                      handle
                          .holdAtLeast(Duration.ofSeconds(6))
                          .fenced()
                          .holdAtMost(Duration.ofSeconds(5)))
              .withMessageContaining("make it longer");
        });
  }

  @Test
  void withoutLocksThereIsNothingToLose() {
    LockHandle handle = LockTemplate.withoutLocks().mutex("m");
    assertThat(
            handle.holdAtMost(Duration.ofMillis(1)).<String, RuntimeException>execute(() -> "ran"))
        .isEqualTo("ran");
    assertThatExceptionOfType(LockException.Invalid.class)
        .isThrownBy(() -> handle.holdAtMost(Duration.ofMillis(-1)));
  }
}
