package io.amqplocks.internal.broker;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waits of a thread that is interrupted before they begin. */
class FuturesTest {

  private static final Duration SHORT = Duration.ofMillis(50);

  @BeforeEach
  void interrupt() {
    Thread.currentThread().interrupt();
  }

  @AfterEach
  void theInterruptIsThereAfterwards() {
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void aPauseLastsItsTime() {
    long begin = System.nanoTime();
    Futures.pause(SHORT.toNanos());
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT.toNanos());
  }

  @Test
  void aResultIsAwaitedAtMostForItsTime() throws Exception {
    CompletableFuture<String> late =
        new CompletableFuture<String>().completeOnTimeout("late", 50, MILLISECONDS);
    assertThat(Futures.await(late, Duration.ofMinutes(1).toNanos())).isEqualTo("late");
    assertThatThrownBy(() -> Futures.await(new CompletableFuture<>(), SHORT.toNanos()))
        .isInstanceOf(TimeoutException.class);
    assertThatThrownBy(() -> Futures.await(CompletableFuture.failedFuture(new AssertionError()), 1))
        .isInstanceOf(ExecutionException.class);
  }

  @Test
  void aPermitIsAwaitedUntilTheCallEnds() {
    Call call = Call.on(LockId.mutex("m"), SHORT, Ticker.SYSTEM);
    assertThat(Futures.acquire(new Semaphore(1), call)).isTrue();
    assertThat(Futures.acquire(new Semaphore(0), call)).isFalse();
    assertThat(call.remainingNanos()).isZero();
  }

  @Test
  void aWaitIsBegunAgainAfterEachInterrupt() {
    AtomicInteger begun = new AtomicInteger();
    String result =
        Futures.uninterruptibly(
            () -> {
              if (begun.incrementAndGet() < 3) {
                throw new InterruptedException();
              }
              return "done";
            });
    assertThat(result).isEqualTo("done");
    assertThat(begun).hasValue(3);
  }
}
