package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What calls do whose lease is really lost under them: an operator deletes its queue. */
@BrokerTest
class OnLostTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;

  OnLostTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    @MutexGuarded(name = "${test.lock}")
    String notifying(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    String failing(Callable<String> work, @Nullable Lease lease) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    CompletableFuture<String> failingFuture(Callable<String> work) throws Exception {
      return CompletableFuture.completedFuture(work.call());
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    Mono<String> failingMono(Callable<String> work) {
      return Mono.fromCallable(work);
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    String failingWithLease(@Nullable Lease lease, Consumer<Lease> work) {
      work.accept(requireNonNull(lease));
      return "done";
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL, holdAtLeast = "1m")
    String failingWithKeptLease(@Nullable Lease lease, Consumer<Lease> work) {
      work.accept(requireNonNull(lease));
      return "done";
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.INTERRUPT)
    String interrupted(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", onLost = OnLost.INTERRUPT)
    String interruptedWithLease(@Nullable Lease lease, Consumer<Lease> work) {
      assertThat(lease).isNotNull();
      work.accept(lease);
      return "done";
    }
  }

  private void run(Consumer<Work> test) {
    run((work, locks) -> test.accept(work));
  }

  private void run(BiConsumer<Work, AmqpLocks> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              test.accept(context.getBean(Work.class), context.getBean(AmqpLocks.class));
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
              assertThat(Thread.currentThread().isInterrupted()).isFalse();
            });
  }

  private String loseIt() {
    broker.faults().deleteQueue(onBroker.mutexQueue());
    return "done";
  }

  private void isLost(LockException.Lost lost) {
    assertThat(lost)
        .hasMessageContaining(
            "mutex '" + onBroker.name() + "' was lost while " + Work.class.getName())
        .hasMessageContaining("REVOKED");
  }

  @Test
  void notifyLetsTheResultPass() {
    run(
        work -> {
          try {
            assertThat(work.notifying(this::loseIt)).isEqualTo("done");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  @Test
  void failWithholdsTheResult() {
    run(
        work -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(() -> work.failing(this::loseIt, null))
              .satisfies(this::isLost)
              .withNoCause();
          assertThatExceptionOfType(CompletionException.class)
              .isThrownBy(() -> work.failingFuture(this::loseIt).join())
              .satisfies(e -> isLost((LockException.Lost) requireNonNull(e.getCause())));
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(() -> work.failingMono(this::loseIt).block(LONG))
              .satisfies(this::isLost);
        });
  }

  @Test
  void failLetsTheResultPassWhileTheLeaseStands() {
    run(
        work -> {
          try {
            assertThat(work.failing(() -> "done", null)).isEqualTo("done");
            assertThat(work.failingFuture(() -> "done").join()).isEqualTo("done");
            assertThat(work.interrupted(() -> "done")).isEqualTo("done");
          } catch (Exception e) {
            throw new AssertionError(e);
          }
          assertThat(work.failingMono(() -> "done").block(LONG)).isEqualTo("done");
          assertThatExceptionOfType(IllegalArgumentException.class)
              .isThrownBy(
                  () ->
                      work.failing(
                          () -> {
                            throw new IllegalArgumentException("own");
                          },
                          null))
              .withMessage("own");
        });
  }

  /** As a shutdown does that does not wait any longer. */
  private void isLostWithTheLocks(ThrowingCallable call) {
    assertThatExceptionOfType(LockException.Lost.class)
        .isThrownBy(call)
        .withMessageContaining("mutex '" + onBroker.name() + "' was lost while")
        .withMessageContaining("the locks were closed");
  }

  @Test
  void aCloseOfTheLocksIsALoss() {
    run(
        (work, locks) ->
            isLostWithTheLocks(
                () ->
                    work.failing(
                        () -> {
                          locks.close();
                          return "done";
                        },
                        null)));
    run(
        (work, locks) ->
            isLostWithTheLocks(
                () ->
                    work.failingWithLease(
                        null,
                        lease -> {
                          locks.close();
                          lease.close();
                        })));
  }

  @Test
  void aMethodMayCloseItsLease() {
    run(
        (work, locks) -> {
          assertThat(work.failingWithLease(null, Lease::close)).isEqualTo("done");
          assertThat(work.interruptedWithLease(null, Lease::close)).isEqualTo("done");
          String result =
              work.failingWithKeptLease(
                  null,
                  lease -> {
                    lease.close();
                    locks.close();
                  });
          assertThat(result).isEqualTo("done");
        });
  }

  /** By another thread, for the one that works is interrupted. */
  private CompletableFuture<String> losing() {
    return CompletableFuture.supplyAsync(this::loseIt);
  }

  @Test
  void interruptEndsWhatTheMethodWaitsFor() {
    AtomicReference<CompletableFuture<String>> losing = new AtomicReference<>();
    run(
        work -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      work.interrupted(
                          () -> {
                            losing.set(losing());
                            boolean ended = new CountDownLatch(1).await(60, TimeUnit.SECONDS);
                            return "not reached: " + ended;
                          }))
              .satisfies(this::isLost)
              .withCauseInstanceOf(InterruptedException.class);
          assertThat(requireNonNull(losing.get()).join()).isEqualTo("done");
        });
  }

  @Test
  void theFlagDoesNotOutliveAMethodThatTookNoNotice() {
    run(
        work ->
            assertThatExceptionOfType(LockException.Lost.class)
                .isThrownBy(
                    () ->
                        work.interruptedWithLease(
                            null,
                            lease -> {
                              CompletableFuture<String> losing = losing();
                              while (!Thread.currentThread().isInterrupted() || !losing.isDone()) {
                                Thread.onSpinWait();
                              }
                              assertThat(lease.state()).isEqualTo(LeaseState.LOST);
                            }))
                .satisfies(this::isLost));
  }

  @Test
  void aFlagThatWasThereBeforeStays() {
    run(
        work -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      work.interruptedWithLease(
                          null,
                          lease -> {
                            Thread.currentThread().interrupt();
                            CompletableFuture<String> losing = losing();
                            while (lease.state() != LeaseState.LOST || !losing.isDone()) {
                              Thread.onSpinWait();
                            }
                          }));
          assertThat(Thread.interrupted()).isTrue();
        });
  }
}
