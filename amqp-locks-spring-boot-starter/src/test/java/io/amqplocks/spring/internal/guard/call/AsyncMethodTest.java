package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Locks of methods whose work goes on after they have returned: held until it ends. */
@BrokerTest
class AsyncMethodTest extends AsyncMethodContract {

  AsyncMethodTest(Broker broker) {
    super(broker);
  }

  @Test
  void aFutureHoldsUntilItCompletes() {
    run(
        (work, locks) -> {
          CompletableFuture<String> inner = new CompletableFuture<>();
          CompletableFuture<String> outer = work.future(() -> inner);
          awaitHeld(locks, 1);
          await().atMost(LONG).until(() -> work.begun() == 1);
          assertThat(outer).isNotDone();
          inner.complete("done");
          assertThat(outer.join()).isEqualTo("done");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aFutureThatFails() {
    run(
        (work, locks) -> {
          IllegalArgumentException own = new IllegalArgumentException("from the work");
          CompletionStage<String> outer = work.stage(() -> CompletableFuture.failedFuture(own));
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(() -> outer.toCompletableFuture().join())
              .havingCause()
              .isSameAs(own);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aMethodThatThrowsInsteadOfReturningAFuture() {
    run(
        (work, locks) -> {
          IllegalArgumentException own = new IllegalArgumentException("from the method");
          CompletableFuture<String> outer =
              work.future(
                  () -> {
                    throw own;
                  });
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(outer::join)
              .havingCause()
              .isSameAs(own);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aKeyThatIsWrongFailsTheFuture() {
    run(
        (work, locks) -> {
          CompletableFuture<@Nullable String> outer = work.keyed(null);
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(outer::join)
              .withCauseInstanceOf(LockException.Invalid.class);
          assertThat(work.begun()).isZero();
        });
  }

  @Test
  void theMethodHasTheCallersClassLoaderAndNotItsThread() {
    run(
        (work, locks) -> {
          Thread caller = Thread.currentThread();
          ClassLoader before = caller.getContextClassLoader();
          ClassLoader mine = new ClassLoader() {};
          caller.setContextClassLoader(mine);
          try {
            work.future(
                    () -> {
                      assertThat(Thread.currentThread()).isNotSameAs(caller);
                      assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(mine);
                      return CompletableFuture.completedFuture("done");
                    })
                .join();
            assertThat(
                    work.mono(
                            () -> {
                              assertThat(Thread.currentThread().getContextClassLoader())
                                  .isSameAs(mine);
                              return Mono.just("done");
                            })
                        .block(LONG))
                .isEqualTo("done");
          } finally {
            caller.setContextClassLoader(before);
          }
        });
  }

  @Test
  void nothingHappensBeforeSomebodySubscribes() {
    run(
        (work, locks) -> {
          Mono<String> mono = work.mono(() -> Mono.just("done"));
          assertThat(locks.status().held()).isZero();
          assertThat(work.begun()).isZero();
          assertThat(mono.block(LONG)).isEqualTo("done");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void eachSubscriptionHasALeaseOfItsOwn() {
    run(
        (work, locks) -> {
          Sinks.One<String> end = Sinks.one();
          Mono<String> mono = work.mono(end::asMono);
          CompletableFuture<@Nullable String> one = mono.toFuture();
          CompletableFuture<@Nullable String> two = mono.toFuture();
          awaitHeld(locks, 2);
          CompletableFuture<@Nullable String> three = mono.toFuture();
          await().atMost(LONG).until(() -> locks.status().waiting() == 1);
          assertThat(work.begun()).isLessThanOrEqualTo(2);
          end.tryEmitValue("done");
          assertThat(one.join() + two.join() + three.join()).isEqualTo("donedonedone");
          assertThat(work.begun()).isEqualTo(3);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aFluxHoldsUntilItsEnd() {
    run(
        (work, locks) -> {
          assertThat(
                  work.flux(() -> Flux.range(0, 3).map(i -> i + ":" + locks.status().held()))
                      .collectList()
                      .block(LONG))
              .containsExactly("0:2", "1:2", "2:2");
          assertThat(locks.status().held()).isZero();
          assertThatExceptionOfType(IllegalArgumentException.class)
              .isThrownBy(
                  () ->
                      work.flux(() -> Flux.error(new IllegalArgumentException("from the work")))
                          .blockLast(LONG));
          assertThat(locks.status().held()).isZero();
          assertThat(work.flux(() -> Flux.just("a").concatWith(Flux.never())).blockFirst(LONG))
              .isEqualTo("a");
          awaitHeld(locks, 0);
        });
  }
}
