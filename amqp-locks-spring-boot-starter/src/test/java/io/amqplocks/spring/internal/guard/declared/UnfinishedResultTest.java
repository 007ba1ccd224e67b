package io.amqplocks.spring.internal.guard.declared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Single;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@BrokerTest
class UnfinishedResultTest {

  @AutoClose private final LocksOnBroker locks;

  UnfinishedResultTest(Broker broker) {
    locks = new LocksOnBroker(broker);
  }

  interface Later {
    CompletableFuture<String> completable();

    Future<String> future();

    Flow.Publisher<String> flow();

    Callable<String> callable();

    Stream<String> stream();

    IntStream numbers();

    Single<String> single();

    Completable completion();

    Maybe<String> maybe();

    Flowable<String> flowable();

    DeferredResult<String> deferred();

    WebAsyncTask<String> task();

    SseEmitter events();

    StreamingResponseBody body();

    ResponseEntity<StreamingResponseBody> response();

    Optional<Stream<String>> optional();
  }

  interface Brought {
    Mono<ResponseEntity<Flux<String>>> response();

    CompletableFuture<Stream<String>> stream();

    CompletionStage<Optional<Callable<String>>> callable();

    Flux<Mono<String>> monos();
  }

  interface Finished {
    Mono<ResponseEntity<String>> response();

    Mono<Void> nothing();

    CompletableFuture<List<String>> list();

    CompletableFuture<?> some();

    Flux<String> texts();
  }

  interface Now {
    void nothing();

    String text();

    Object object();

    List<String> list();

    Map<String, Object> map();

    ResponseEntity<String> response();

    ResponseEntity<?> someResponse();
  }

  @Test
  void whatMethodsSayThatTheyReturn() {
    assertThat(Later.class.getDeclaredMethods())
        .allMatch(method -> UnfinishedResult.returnedBy(method, Later.class).isPresent());
    assertThat(Now.class.getDeclaredMethods())
        .noneMatch(method -> UnfinishedResult.returnedBy(method, Now.class).isPresent());
  }

  @Test
  void whatTheyBringLaterIsNotToWorkOn() {
    assertThat(Brought.class.getDeclaredMethods())
        .allSatisfy(
            method ->
                assertThat(
                        UnguardableMethod.reasonFor(method, Brought.class, AdviceMode.PROXY)
                            .orElseThrow())
                    .contains(" brings a ")
                    .contains("whose work may go on after the lock was given back"));
    assertThat(Finished.class.getDeclaredMethods())
        .allSatisfy(
            method ->
                assertThat(UnguardableMethod.reasonFor(method, Finished.class, AdviceMode.PROXY))
                    .isEmpty());
  }

  /** As Kotlin's compiler makes it of {@code suspend fun pay(id: Long): String}. */
  static class Suspending {
    @Nullable Object pay(long id, Continuation<? super String> continuation) {
      return null;
    }
  }

  private static Optional<String> refusalOfSuspending(AdviceMode mode) {
    return UnguardableMethod.reasonFor(
        Suspending.class.getDeclaredMethods()[0], Suspending.class, mode);
  }

  /** Of the three, only Reactor is here. */
  @Test
  void suspendingFunctionsOfKotlinAreRefusedWithoutTheirLibraries() {
    assertThat(refusalOfSuspending(AdviceMode.PROXY))
        .hasValueSatisfying(
            reason ->
                assertThat(reason)
                    .contains("suspending function of Kotlin")
                    .contains("org.jetbrains.kotlin:kotlin-reflect")
                    .contains("org.jetbrains.kotlinx:kotlinx-coroutines-reactor")
                    .doesNotContain("reactor-core"));
  }

  @Test
  void suspendingFunctionsOfKotlinAreRefusedWhereTheyAreWoven() {
    assertThat(refusalOfSuspending(AdviceMode.ASPECTJ))
        .hasValueSatisfying(
            reason -> assertThat(reason).contains("AspectJ").contains("mode=proxy"));
  }

  static class Work {
    @MutexGuarded(name = "work")
    @Nullable Object any(@Nullable Object result) {
      return result;
    }

    @MutexGuarded(name = "work")
    Mono<Object> brings(Object result) {
      return Mono.just(result);
    }
  }

  @Test
  void aResultThatWasNotDeclaredIsRefusedWhenItComes() {
    locks
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              assertThat(work.any("now")).isEqualTo("now");
              assertThat(work.any(null)).isNull();
              assertThatIllegalStateException()
                  .isThrownBy(() -> work.any(Single.just("later")))
                  .withMessageContaining("Work.any() cannot be guarded by a lock: it returns")
                  .withMessageContaining("LockTemplate");
              assertThat(work.any(ResponseEntity.ok("now"))).isNotNull();
              assertThat(work.any(ResponseEntity.noContent().build())).isNotNull();
              assertThat(work.any(Optional.empty())).isNotNull();
              for (Object wrapped :
                  List.of(
                      ResponseEntity.ok(Single.just("later")),
                      Optional.of(Single.just("later")),
                      Optional.of(ResponseEntity.ok(Stream.of("later"))))) {
                assertThatIllegalStateException()
                    .isThrownBy(() -> work.any(wrapped))
                    .withMessageContaining("Work.any() cannot be guarded by a lock: it returns");
              }
              assertThat(work.brings("now").block(Duration.ofSeconds(30))).isEqualTo("now");
              assertThatIllegalStateException()
                  .isThrownBy(
                      () ->
                          work.brings(ResponseEntity.ok(Flux.just("later")))
                              .block(Duration.ofSeconds(30)))
                  .withMessageContaining("Work.brings() cannot be guarded by a lock: it returns");
              AmqpLocks all = context.getBean(AmqpLocks.class);
              await().untilAsserted(() -> assertThat(all.status().held()).isZero());
            });
  }
}
