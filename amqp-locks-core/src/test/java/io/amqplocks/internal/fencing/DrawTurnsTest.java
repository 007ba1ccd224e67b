package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DrawTurnsTest {

  private static final FenceCounter COUNTER = FenceCounter.of(LockId.mutex("l"), 1);
  private static final FenceCounter OTHER = FenceCounter.of(LockId.mutex("m"), 1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final DrawTurns turns = new DrawTurns();
  private final CountDownLatch hanging = new CountDownLatch(1);
  private final CountDownLatch begun = new CountDownLatch(1);

  @AfterEach
  void close() {
    hanging.countDown();
    threads.shutdownNow();
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.mutex("l"), bound, Ticker.SYSTEM);
  }

  private Future<?> hang() throws InterruptedException {
    Future<?> draw =
        threads.submit(
            () ->
                turns.inTurn(
                    call(Duration.ofMinutes(1)),
                    COUNTER,
                    () -> {
                      begun.countDown();
                      return unchecked(hanging);
                    }));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    return draw;
  }

  private static boolean unchecked(CountDownLatch latch) {
    try {
      return latch.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void oneThreadAtATimeDrawsFromACounterAndNothingIsKept() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<?>> draws = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      draws.add(
          threads.submit(
              () -> {
                for (int n = 0; n < 1_000; n++) {
                  int unused =
                      turns.inTurn(
                          call(Duration.ofMinutes(1)),
                          COUNTER,
                          () -> {
                            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                            Thread.onSpinWait();
                            return inside.decrementAndGet();
                          });
                }
              }));
    }
    for (Future<?> draw : draws) {
      draw.get(180, TimeUnit.SECONDS);
    }
    assertThat(most).hasValue(1);
    assertThat(turns.size()).isZero();
  }

  @Test
  void whoseBoundEndsLeavesAndAnotherCounterIsNotDelayed() throws Exception {
    Future<?> draw = hang();
    assertThatThrownBy(() -> turns.inTurn(call(Duration.ofMillis(50)), COUNTER, () -> 1))
        .isInstanceOfSatisfying(
            LockException.Unanswered.class,
            // The other thread may wait for other clients, of a broker that is well.
            e -> assertThat(e.isOutage()).isFalse())
        .hasMessageContaining("mutex 'l'")
        .hasMessageContaining("50 ms");
    assertThat(turns.inTurn(call(Duration.ofSeconds(30)), OTHER, () -> 2)).isEqualTo(2);
    hanging.countDown();
    draw.get(30, TimeUnit.SECONDS);
    assertThat(turns.inTurn(call(Duration.ofSeconds(30)), COUNTER, () -> 3)).isEqualTo(3);
    assertThat(turns.size()).isZero();
  }

  @Test
  void aFailedDrawPassesTheTurnOn() {
    assertThatThrownBy(
            () ->
                turns.inTurn(
                    call(Duration.ofSeconds(30)),
                    COUNTER,
                    () -> {
                      throw new IllegalStateException("no");
                    }))
        .hasMessage("no");
    assertThat(turns.inTurn(call(Duration.ofSeconds(30)), COUNTER, () -> 1)).isEqualTo(1);
    assertThat(turns.size()).isZero();
  }

  @Test
  void anInterruptEndsNoWaitAndIsKept() throws Exception {
    Future<?> draw = hang();
    AtomicInteger drawn = new AtomicInteger();
    Thread waiter =
        new Thread(
            () -> {
              drawn.set(turns.inTurn(call(Duration.ofSeconds(30)), COUNTER, () -> 1));
              drawn.addAndGet(Thread.currentThread().isInterrupted() ? 10 : 0);
            });
    waiter.start();
    await().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);
    waiter.interrupt();
    hanging.countDown();
    draw.get(30, TimeUnit.SECONDS);
    waiter.join(30_000);
    assertThat(drawn).hasValue(11);
  }
}
