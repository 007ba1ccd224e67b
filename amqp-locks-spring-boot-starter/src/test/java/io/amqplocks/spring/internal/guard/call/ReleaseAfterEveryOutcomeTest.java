package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * However a method ends, through the real proxy, both of its locks are free afterwards: a stranger
 * in another application can have them at once.
 */
@BrokerTest
class ReleaseAfterEveryOutcomeTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  ReleaseAfterEveryOutcomeTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    application = onBroker.application().withBean(Work.class);
  }

  static class Work {
    @MutexGuarded(name = "${test.lock}")
    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    String plain(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.INTERRUPT)
    @SemaphoreGuarded(name = "${test.lock}", slots = 1, onLost = OnLost.FAIL)
    String watched(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}")
    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    CompletableFuture<String> future(Callable<CompletableFuture<String>> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}")
    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    Mono<String> mono(Mono<String> work) {
      return work;
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    Flux<String> flux(Flux<String> work) {
      return work;
    }
  }

  /**
   * Ways to end. Each does it and returns what the caller saw: a result or the type of a failure.
   */
  enum End {
    RETURN("done") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.plain(() -> "done");
      }
    },
    EXCEPTION("IllegalStateException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.plain(
            () -> {
              throw new IllegalStateException();
            });
      }
    },
    CHECKED_EXCEPTION("IOException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.watched(
            () -> {
              throw new IOException();
            });
      }
    },
    ERROR("StackOverflowError") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.watched(
            () -> {
              throw new StackOverflowError();
            });
      }
    },
    LOST("Lost") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.watched(
            () -> {
              // By another thread, for this one is interrupted.
              CompletableFuture<Void> losing = CompletableFuture.runAsync(lose);
              while (!losing.isDone()) {
                Thread.onSpinWait();
              }
              return "not seen";
            });
      }
    },
    FUTURE_COMPLETES("done") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.future(() -> CompletableFuture.supplyAsync(() -> "done")).join();
      }
    },
    FUTURE_FAILS("CompletionException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.future(() -> CompletableFuture.failedFuture(new IOException())).join();
      }
    },
    FUTURE_IS_NOT_RETURNED("CompletionException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        return work.future(
                () -> {
                  throw new StackOverflowError();
                })
            .join();
      }
    },
    FUTURE_TIMES_OUT("CompletionException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        CompletableFuture<String> never = new CompletableFuture<>();
        return work.future(() -> never.orTimeout(1, TimeUnit.MILLISECONDS)).join();
      }
    },
    FUTURE_IS_CANCELLED("CancellationException") {
      @Override
      Object call(Work work, Runnable lose) throws Exception {
        CompletableFuture<Boolean> begun = new CompletableFuture<>();
        Mono<String> never = Mono.<String>never().doOnSubscribe(any -> begun.complete(true));
        CompletableFuture<String> future = work.future(() -> never.toFuture());
        assertThat(begun.join()).isTrue();
        future.cancel(true);
        return future.join();
      }
    },
    MONO_COMPLETES("done") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.mono(Mono.just("done")).block(LONG);
      }
    },
    MONO_FAILS("IllegalStateException") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.mono(Mono.error(new IllegalStateException())).block(LONG);
      }
    },
    MONO_TIMES_OUT("TimeoutException") {
      @Override
      @Nullable Object call(Work work, Runnable lose) throws Exception {
        try {
          return work.mono(Mono.never()).timeout(Duration.ofMillis(200)).block(LONG);
        } catch (RuntimeException e) {
          throw e.getCause() instanceof TimeoutException timeout ? timeout : e;
        }
      }
    },
    FLUX_COMPLETES("[a, b]") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.flux(Flux.just("a", "b")).collectList().block(LONG);
      }
    },
    FLUX_FAILS("IllegalStateException") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.flux(Flux.just("a").concatWith(Flux.error(new IllegalStateException())))
            .collectList()
            .block(LONG);
      }
    },
    FLUX_IS_CANCELLED("a") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.flux(Flux.just("a").concatWith(Flux.never())).blockFirst(LONG);
      }
    },
    FLUX_IS_LOST("Lost") {
      @Override
      @Nullable Object call(Work work, Runnable lose) {
        return work.flux(Flux.just("a").doOnComplete(lose)).collectList().block(LONG);
      }
    };

    private final String seen;

    End(String seen) {
      this.seen = seen;
    }

    abstract @Nullable Object call(Work work, Runnable lose) throws Exception;
  }

  @ParameterizedTest
  @EnumSource
  void theLocksAreFreeAfterwards(End end) {
    application.run(
        context ->
            application.run(
                stranger -> {
                  @Nullable Object[] result = new @Nullable Object[1];
                  Throwable thrown =
                      catchThrowable(
                          () ->
                              result[0] =
                                  end.call(
                                      context.getBean(Work.class),
                                      () -> broker.faults().deleteQueue(onBroker.mutexQueue())));
                  assertThat(thrown == null ? result[0] : thrown.getClass().getSimpleName())
                      .hasToString(end.seen);
                  assertThat(Thread.currentThread().isInterrupted()).isFalse();
                  assertThat(stranger.getBean(Work.class).plain(() -> "mine")).isEqualTo("mine");
                  AmqpLocks locks = context.getBean(AmqpLocks.class);
                  await().atMost(LONG).until(() -> locks.status().held() == 0);
                  assertThat(locks.status().waiting()).isZero();
                }));
  }
}
