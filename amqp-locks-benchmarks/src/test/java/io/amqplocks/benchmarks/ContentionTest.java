package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ContentionTest {

  /** A thread may begin late on a busy machine, and what it does after the end does not count. */
  private static final Duration TIME = Duration.ofSeconds(10);

  @Test
  void tellsWhatEachThreadGot() throws Exception {
    AtomicInteger released = new AtomicInteger();
    AutoCloseable lease = released::incrementAndGet;
    Callable<AutoCloseable> fast =
        () -> {
          // Leaves the processor to others.
          TimeUnit.MILLISECONDS.sleep(1);
          return lease;
        };
    Callable<AutoCloseable> slow =
        () -> {
          TimeUnit.MILLISECONDS.sleep(TIME.toMillis() + 50);
          return lease;
        };
    List<Contention> outcomes = Contention.each(List.of(fast, slow), TIME);
    assertThat(outcomes).hasSize(2);
    assertThat(outcomes.get(0).acquires()).isPositive();
    // It came after the end.
    assertThat(outcomes.get(1).acquires()).isZero();
    assertThat(outcomes.get(1).longestWait()).isGreaterThan(TIME.toNanos());
    // Each lease is released, counted or not.
    assertThat((long) released.get()).isGreaterThan(outcomes.get(0).acquires());
  }

  @Test
  void throwsWhatAnAcquireThrows() {
    Callable<AutoCloseable> broken =
        () -> {
          throw new IllegalStateException("lost");
        };
    assertThatThrownBy(() -> Contention.each(List.of(broken), TIME))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("lost");
  }
}
