package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.context.ContextRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.MDC;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/** What work sees of its caller's context when it runs on another thread. */
@BrokerTest
@Isolated("the registry of thread-locals and Reactor's hooks are those of the JVM")
class ContextPropagationTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String REQUEST = "request";

  @AutoClose private final LocksOnBroker onBroker;
  private final ObservationRegistry observations = ObservationRegistry.create();

  ContextPropagationTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  @BeforeEach
  void register() {
    // A registry without handlers observes nothing.
    observations.observationConfig().observationHandler(context -> true);
    ContextRegistry.getInstance()
        .registerThreadLocalAccessor(
            REQUEST,
            () -> MDC.get(REQUEST),
            value -> MDC.put(REQUEST, value),
            () -> MDC.remove(REQUEST));
  }

  @AfterEach
  void remove() {
    ContextRegistry.getInstance().removeThreadLocalAccessor(REQUEST);
    Hooks.disableAutomaticContextPropagation();
    MDC.remove(REQUEST);
  }

  /** What a thread has. */
  record Seen(@Nullable String request, @Nullable String observation, String thread) {
    static Seen here(ObservationRegistry observations) {
      Observation current = observations.getCurrentObservation();
      return new Seen(
          MDC.get(REQUEST),
          current == null ? null : current.getContext().getName(),
          Thread.currentThread().getName());
    }
  }

  static class Work {
    private final ObservationRegistry observations;

    Work(ObservationRegistry observations) {
      this.observations = observations;
    }

    @MutexGuarded(name = "${test.lock}")
    CompletableFuture<Seen> future() {
      return CompletableFuture.completedFuture(Seen.here(observations));
    }

    CompletableFuture<Seen> unguarded() {
      return CompletableFuture.completedFuture(Seen.here(observations));
    }

    @MutexGuarded(
        name = "${test.lock}",
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "unguarded",
        maxWait = "0s")
    CompletableFuture<Seen> busy() {
      throw new IllegalStateException("It is busy");
    }

    @MutexGuarded(name = "${test.lock}")
    Mono<Seen> mono() {
      return Mono.just(Seen.here(observations));
    }

    @MutexGuarded(name = "${test.lock}")
    Mono<String> reactorContext() {
      return Mono.deferContextual(context -> Mono.just(context.get(REQUEST)));
    }
  }

  private interface Check {
    void of(Work work, LockHandle handle);
  }

  private void run(Check check) {
    onBroker
        .application()
        .withBean(Work.class, () -> new Work(observations))
        .run(
            context -> {
              check.of(
                  context.getBean(Work.class),
                  context.getBean(LockTemplate.class).mutex(onBroker.name()));
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              await().atMost(LONG).until(() -> locks.status().held() == 0);
            });
  }

  static Stream<Named<BiFunction<Work, LockHandle, CompletableFuture<Seen>>>> calls() {
    return Stream.of(
        Named.of("method", (work, handle) -> work.future()),
        Named.of("handle", (work, handle) -> handle.executeAsync(work::unguarded)),
        Named.of(
            "fallback",
            (work, handle) -> {
              try (Lease busy = handle.acquire()) {
                return CompletableFuture.completedFuture(work.busy().join());
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void workOnAnotherThreadHasTheCallersContext(
      BiFunction<Work, LockHandle, CompletableFuture<Seen>> call) {
    run(
        (work, handle) -> {
          MDC.put(REQUEST, "r1");
          Observation caller = Observation.start("caller", observations);
          CompletableFuture<Seen> called;
          try (Observation.Scope scope = caller.openScope()) {
            called = call.apply(work, handle);
          } finally {
            caller.stop();
          }
          MDC.put(REQUEST, "r2");
          assertThat(called)
              .succeedsWithin(LONG)
              .satisfies(
                  seen -> {
                    assertThat(seen.request()).isEqualTo("r1");
                    assertThat(seen.observation()).isEqualTo("caller");
                    assertThat(seen.thread()).isNotEqualTo(Thread.currentThread().getName());
                  });
        });
  }

  /** Spring Security registers its accessor by itself. */
  @Test
  void workOnAnotherThreadHasTheCallersSecurityContext() {
    run(
        (work, handle) -> {
          SecurityContextHolder.setContext(
              new SecurityContextImpl(new TestingAuthenticationToken("alice", "secret")));
          CompletableFuture<String> called;
          try {
            called =
                handle.executeAsync(
                    () -> {
                      Authentication authentication =
                          SecurityContextHolder.getContext().getAuthentication();
                      return CompletableFuture.completedFuture(
                          (authentication == null ? "nobody" : authentication.getName())
                              + " on "
                              + Thread.currentThread().getName());
                    });
          } finally {
            SecurityContextHolder.clearContext();
          }
          assertThat(called)
              .succeedsWithin(LONG)
              .asString()
              .startsWith("alice on ")
              .doesNotEndWith(Thread.currentThread().getName());
        });
  }

  /** Nobody would close the lease otherwise. */
  @Test
  void anAccessorThatFailsHoldsNoLock() {
    ContextRegistry.getInstance()
        .registerThreadLocalAccessor(
            REQUEST,
            () -> {
              throw new IllegalStateException("from the accessor");
            },
            value -> {},
            () -> {});
    run(
        (work, handle) -> {
          for (CompletableFuture<Seen> call :
              List.of(work.future(), handle.executeAsync(work::unguarded))) {
            assertThat(call)
                .failsWithin(LONG)
                .withThrowableThat()
                .withMessageContaining("from the accessor");
          }
        });
  }

  /** It has begun, so it keeps its lock to the end. */
  @Test
  void anAccessorThatCannotRestoreEndsNoWork() {
    AtomicBoolean within = new AtomicBoolean();
    ContextRegistry.getInstance()
        .registerThreadLocalAccessor(
            REQUEST,
            () -> "any",
            value -> {
              if (within.get()) {
                throw new IllegalStateException("from the accessor");
              }
            },
            () -> {});
    run(
        (work, handle) -> {
          CompletableFuture<String> stage = new CompletableFuture<>();
          CompletableFuture<String> result =
              handle.executeAsync(
                  () -> {
                    within.set(true);
                    return stage;
                  });
          await().atMost(LONG).untilTrue(within);
          assertThat(handle.waiting(Duration.ofMillis(500)).tryExecute(() -> {})).isFalse();
          assertThat(result).isNotDone();
          stage.complete("done");
          assertThat(result).succeedsWithin(LONG).isEqualTo("done");
        });
  }

  @Test
  void aMonoHasTheSubscribersReactorContext() {
    run(
        (work, handle) ->
            assertThat(
                    work.reactorContext()
                        .contextWrite(context -> context.put(REQUEST, "subscriber's"))
                        .block(LONG))
                .isEqualTo("subscriber's"));
  }

  @Test
  void andItsThreadLocalsWhereReactorPropagatesThem() {
    Hooks.enableAutomaticContextPropagation();
    run(
        (work, handle) -> {
          MDC.put(REQUEST, "r1");
          Mono<Seen> mono = work.mono();
          MDC.put(REQUEST, "r2");
          assertThat(mono.block(LONG))
              .satisfies(
                  seen -> {
                    assertThat(seen.request()).isEqualTo("r2");
                    assertThat(seen.thread()).isNotEqualTo(Thread.currentThread().getName());
                  });
        });
  }

  @Test
  void noneWhereReactorDoesNot() {
    run(
        (work, handle) -> {
          MDC.put(REQUEST, "r1");
          assertThat(work.mono().block(LONG)).extracting(Seen::request).isNull();
        });
  }
}
