package io.amqplocks.spring.internal.guard.call;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A call that wants a lock which the call around it holds. */
@BrokerTest
class NestedCallsTest {

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;

  NestedCallsTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  /** Calls whatever it is told to, under its locks; several beans of it may call each other. */
  static class Work {
    @MutexGuarded(name = "${test.lock}")
    <T> T mutex(Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", key = "#key")
    <T> T keyed(String key, Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}")
    @MutexGuarded(name = "${test.lock}-b")
    <T> T both(Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}")
    <T> T withLease(@Nullable Lease lease, Use<Lease, T> work) throws Exception {
      return work.of(requireNonNull(lease));
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "5s")
    <T> T keptLease(@Nullable Lease lease, Use<Lease, T> work) throws Exception {
      return work.of(requireNonNull(lease));
    }

    @MutexGuarded(name = "${test.lock}", fenced = true)
    <T> T fenced(@Nullable FencingToken token, Use<FencingToken, T> work) throws Exception {
      return work.of(requireNonNull(token));
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    <T> T failing(Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.INTERRUPT)
    <T> T interrupted(Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "1h")
    <T> T keeping(Callable<T> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", holdAtMost = "1m")
    <T> T limited(Callable<T> work) throws Exception {
      return work.call();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 3, permitsExpression = "#permits")
    <T> T semaphore(int permits, Callable<T> work) throws Exception {
      return work.call();
    }
  }

  interface Use<P, T> {
    T of(P parameter) throws Exception;
  }

  private interface Body {
    void of(Work work, LockTemplate template, AmqpLocks locks) throws Exception;
  }

  private void run(Body test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              test.of(context.getBean(Work.class), context.getBean(LockTemplate.class), locks);
              assertThat(LeaseScope.current()).as("left behind in the thread").isNull();
              assertThat(locks.status().waiting()).isZero();
            });
  }

  @Test
  void aNestedCallJoinsTheLease() {
    run(
        (work, template, locks) -> {
          LockHandle handle = template.mutex(onBroker.name());
          Callable<Integer> held = () -> locks.status().held();
          assertThat(work.mutex(() -> work.mutex(() -> work.mutex(held)))).isEqualTo(1);
          assertThat(work.mutex(() -> handle.execute(held::call))).isEqualTo(1);
          assertThat(work.mutex(() -> handle.tryExecute(held::call).orElse(-1))).isEqualTo(1);
          assertThat(handle.<Integer, Exception>execute(() -> work.mutex(held))).isEqualTo(1);
          assertThat(work.mutex(() -> handle.tryExecute(() -> {}))).isTrue();
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void theInnerCallsEndDoesNotRelease() {
    run(
        (work, template, locks) -> {
          int held =
              work.mutex(
                  () -> {
                    work.mutex(() -> "inner");
                    return locks.status().held();
                  });
          assertThat(held).isEqualTo(1);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void anotherKeyIsAnotherLock() {
    run(
        (work, template, locks) -> {
          assertThat(work.keyed("a", () -> work.keyed("b", () -> locks.status().held())))
              .isEqualTo(2);
          assertThat(work.keyed("a", () -> work.keyed("a", () -> locks.status().held())))
              .isEqualTo(1);
          assertThat(
                  work.keyed(
                      "a",
                      () ->
                          template
                              .mutex(onBroker.name(), "a")
                              .execute(() -> locks.status().held())))
              .isEqualTo(1);
        });
  }

  @Test
  void ofSeveralLocksThoseAreJoinedThatAreHeld() {
    run(
        (work, template, locks) -> {
          assertThat(work.mutex(() -> work.both(() -> locks.status().held()))).isEqualTo(2);
          assertThat(work.both(() -> work.mutex(() -> locks.status().held()))).isEqualTo(2);
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void anotherApplicationIsAnotherHolder() {
    run(
        (work, template, locks) -> {
          try (AmqpLocks stranger = onBroker.stranger()) {
            assertThat(work.mutex(() -> stranger.mutex(onBroker.name()).tryAcquire().isPresent()))
                .isFalse();
          }
        });
    run(
        (work, template, locks) ->
            onBroker
                .application()
                .run(
                    another ->
                        assertThat(
                                work.mutex(
                                    () ->
                                        another
                                            .getBean(LockTemplate.class)
                                            .mutex(onBroker.name())
                                            .tryExecute(() -> {})))
                            .isFalse()));
  }

  @Test
  void anInjectedHandleJoins() {
    onBroker
        .application()
        .withBean(Work.class)
        .withPropertyValues("amqp-locks.mutexes." + onBroker.name() + ".wait=20s")
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              LockHandle injected =
                  context.getBeansOfType(LockHandle.class).values().iterator().next();
              assertThat(work.mutex(() -> injected.tryExecute(() -> {}))).isTrue();
            });
  }

  @Test
  void explicitLeasesNeitherJoinNorAreJoined() {
    run(
        (work, template, locks) -> {
          LockHandle handle = template.mutex(onBroker.name());
          assertThat(work.mutex(() -> handle.tryAcquire().isPresent())).isFalse();
          try (Lease explicit = handle.acquire()) {
            assertThat(handle.tryExecute(() -> {})).isFalse();
            assertThat(explicit.state()).isEqualTo(LeaseState.HELD);
          }
        });
  }

  /** The holder's other threads are others. */
  @Test
  void anotherThreadDoesNotJoin() {
    run(
        (work, template, locks) -> {
          LockHandle handle = template.mutex(onBroker.name());
          ExecutorService another = Executors.newSingleThreadExecutor();
          try {
            boolean ran =
                work.mutex(
                    () ->
                        another
                            .submit(() -> handle.tryExecute(() -> {}))
                            .get(60, TimeUnit.SECONDS));
            assertThat(ran).isFalse();
          } finally {
            another.shutdownNow();
          }
        });
  }

  @Test
  void aThreadOfAPoolIsLeftAsItWas() {
    run(
        (work, template, locks) -> {
          ExecutorService pool = Executors.newSingleThreadExecutor();
          try {
            for (Callable<Object> failing :
                List.<Callable<Object>>of(
                    () -> {
                      throw new IllegalStateException("inner");
                    },
                    () -> {
                      throw new StackOverflowError("inner");
                    })) {
              Future<Object> failed =
                  pool.submit(() -> work.mutex(() -> work.mutex(() -> work.mutex(failing))));
              assertThat(failed)
                  .failsWithin(Duration.ofSeconds(60))
                  .withThrowableThat()
                  .havingRootCause()
                  .withMessage("inner");
              assertThat(pool.submit(LeaseScope::current).get(60, TimeUnit.SECONDS)).isNull();
            }
            assertThat(locks.status().held()).isZero();
            assertThatIllegalStateException()
                .isThrownBy(
                    () ->
                        work.mutex(
                            () -> {
                              assertThatIllegalStateException()
                                  .isThrownBy(
                                      () ->
                                          work.mutex(
                                              () -> {
                                                throw new IllegalStateException("inner");
                                              }));
                              assertThat(locks.status().held()).isEqualTo(1);
                              throw new IllegalStateException("outer");
                            }))
                .withMessage("outer");
          } finally {
            pool.shutdownNow();
          }
        });
  }

  private boolean twoAreInUse() {
    onBroker.awaitInUse(2);
    return true;
  }

  @Test
  void aSemaphoresPermitsCountOnce() {
    run(
        (work, template, locks) -> {
          assertThat(work.semaphore(2, () -> work.semaphore(1, this::twoAreInUse))).isTrue();
          // A token goes back by a message that nobody waits for.
          await().until(() -> onBroker.inUse() == 0);
          assertThat(work.semaphore(2, () -> work.semaphore(2, this::twoAreInUse))).isTrue();
        });
  }

  @Test
  void whoWantsMorePermitsThanTheOuterCallHasIsToldSo() {
    run(
        (work, template, locks) -> {
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> work.semaphore(1, () -> work.semaphore(2, () -> "never")))
              .withMessageContaining("semaphore '" + onBroker.name() + "'")
              .withMessageContaining("let the outer call acquire 2")
              .satisfies(e -> assertThat(e.lock()).isPresent());
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void aLostLeaseIsNotJoined() {
    run(
        (work, template, locks) ->
            assertThatExceptionOfType(LockException.Lost.class)
                .isThrownBy(
                    () ->
                        work.withLease(
                            null,
                            lease -> {
                              lose(lease);
                              return work.mutex(() -> "never");
                            }))
                .withMessageContaining("mutex '" + onBroker.name() + "' was lost by the call that")
                .withMessageContaining("REVOKED"));
  }

  private void lose(Lease lease) {
    broker.faults().deleteQueue(onBroker.mutexQueue());
    await().until(() -> lease.state() == LeaseState.LOST);
  }

  /** Its own policy, whatever that of the outer call is. */
  @Test
  void theInnerCallsOnLostAppliesWhileItRuns() {
    run(
        (work, template, locks) -> {
          String outer =
              work.withLease(
                  null,
                  lease -> {
                    assertThatExceptionOfType(LockException.Lost.class)
                        .isThrownBy(
                            () ->
                                work.failing(
                                    () -> {
                                      lose(lease);
                                      return "inner";
                                    }))
                        .withMessageContaining("failing()");
                    return "outer";
                  });
          assertThat(outer).isEqualTo("outer");
        });
  }

  @Test
  void theInnerCallIsInterruptedAndNothingAfterIt() {
    run(
        (work, template, locks) -> {
          String outer =
              work.withLease(
                  null,
                  lease -> {
                    for (int i = 0; i < 3; i++) {
                      work.interrupted(() -> "nothing is lost yet");
                    }
                    assertThatExceptionOfType(LockException.Lost.class)
                        .isThrownBy(
                            () ->
                                work.interrupted(
                                    () -> {
                                      // Elsewhere: the interrupt is for this thread's work.
                                      var unused =
                                          CompletableFuture.runAsync(
                                              () ->
                                                  broker
                                                      .faults()
                                                      .deleteQueue(onBroker.mutexQueue()));
                                      Thread.sleep(60_000);
                                      return "never";
                                    }))
                        .withCauseInstanceOf(InterruptedException.class);
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                    return "outer";
                  });
          assertThat(outer).isEqualTo("outer");
        });
  }

  @Test
  void theInnerCallCannotCloseTheLease() {
    run(
        (work, template, locks) -> {
          LeaseState state =
              work.mutex(
                  () ->
                      work.withLease(
                          null,
                          lease -> {
                            lease.close();
                            assertThat(lease.lock().name().value()).isEqualTo(onBroker.name());
                            return lease.verify();
                          }));
          assertThat(state).isEqualTo(LeaseState.HELD);
          assertThat(locks.status().held()).isZero();
        });
  }

  /** Where the outer method gave its lease back, there is nothing to join. */
  @Test
  void aReleasedLeaseIsNotJoined() {
    run(
        (work, template, locks) -> {
          int held =
              work.withLease(
                  null,
                  lease -> {
                    lease.close();
                    return work.mutex(() -> locks.status().held());
                  });
          assertThat(held).isEqualTo(1);
        });
  }

  /** It would be released in the course of the nested call. */
  @Test
  void aClosedLeaseThatIsKeptForItsMinimumIsNotJoined() {
    run(
        (work, template, locks) ->
            assertThat(
                    work.<LeaseState>keptLease(
                        null,
                        lease -> {
                          lease.close();
                          assertThat(lease.state()).isEqualTo(LeaseState.HELD);
                          return work.mutex(
                              () -> {
                                assertThat(locks.status().held()).isEqualTo(1);
                                return lease.state();
                              });
                        }))
                .isEqualTo(LeaseState.RELEASED));
  }

  @Test
  void theInnerCallHasTheOutersToken() {
    run(
        (work, template, locks) ->
            assertThat(
                    work.<Boolean>fenced(
                        null, outer -> work.fenced(null, inner -> inner.equals(outer))))
                .isTrue());
  }

  @Test
  void aTokenThatTheOuterCallDoesNotHaveIsMissed() {
    run(
        (work, template, locks) -> {
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> work.mutex(() -> work.fenced(null, token -> "never")))
              .withMessageContaining("fenced = true at the outer call");
          assertThat(work.<String>fenced(null, token -> work.mutex(() -> "unfenced")))
              .isEqualTo("unfenced");
        });
  }

  @Test
  void theLongerMinimumHoldCounts() {
    run(
        (work, template, locks) -> {
          assertThat(work.mutex(() -> work.keeping(() -> "done"))).isEqualTo("done");
          assertThat(locks.status().held()).as("kept for the inner call").isEqualTo(1);
          broker.faults().deleteQueue(onBroker.mutexQueue());
          await().until(() -> locks.status().held() == 0);
        });
  }

  /** It would be revoked while it is kept, and be told as lost. */
  @Test
  void aMinimumHoldThatCannotEndBelowTheOutersLimitIsRefused() {
    run(
        (work, template, locks) -> {
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> work.limited(() -> work.mutex(() -> work.keeping(() -> "never"))))
              .withMessageContaining("mutex '" + onBroker.name() + "'")
              .withMessageContaining("for PT1H at least")
              .withMessageContaining("for PT1M at most")
              .withMessageContaining("Make holdAtMost of the outer call longer");
          assertThat(locks.status().held()).isZero();
        });
  }

  @Test
  void whatIsLeftOfTheOutersLimitCounts() {
    run(
        (work, template, locks) -> {
          LockHandle limited = template.mutex(onBroker.name()).holdAtMost(Duration.ofMinutes(1));
          LockHandle kept = template.mutex(onBroker.name()).holdAtLeast(Duration.ofMillis(59_700));
          limited.execute(
              () -> {
                await()
                    .until(
                        () -> locks.leases().get(0).age().compareTo(Duration.ofMillis(300)) >= 0);
                assertThatExceptionOfType(LockException.Invalid.class)
                    .isThrownBy(() -> kept.execute(() -> {}))
                    .withMessageContaining("for PT59.7S at least");
                assertThat(kept.holdAtLeast(Duration.ofMillis(1)).tryExecute(() -> {})).isTrue();
              });
          await().until(() -> locks.status().held() == 0);
        });
  }

  @Test
  void aNestedLimitDoesNotCount() {
    run(
        (work, template, locks) -> {
          LockHandle handle = template.mutex(onBroker.name());
          handle.execute(
              () ->
                  handle
                      .holdAtMost(Duration.ofMillis(1))
                      .execute(
                          () -> {
                            Duration begin = locks.leases().get(0).age();
                            await()
                                .until(
                                    () -> locks.leases().get(0).age().minus(begin).toMillis() > 50);
                            assertThat(locks.leases().get(0).state()).isEqualTo(LeaseState.HELD);
                          }));
        });
  }
}
