package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WaitingLinesTest {

  private static final long LONG = Duration.ofSeconds(20).toNanos();

  private final WaitingLines lines = new WaitingLines();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  @Test
  void theHeadComesFirstAndTheNextWhenItLeaves() throws Exception {
    WaitingLines.Ticket first = lines.join("l");
    WaitingLines.Ticket second = lines.join("l");
    assertThat(first.place().awaitTurn(0)).isTrue();
    assertThat(second.place().awaitTurn(0)).isFalse();
    Future<Boolean> turn = threads.submit(() -> second.place().awaitTurn(LONG));
    lines.leave(first);
    assertThat(turn.get(5, TimeUnit.SECONDS)).isTrue();
    lines.leave(second);
    assertThat(lines.isEmpty("l")).isTrue();
    assertThat(lines.waiting()).isZero();
  }

  @Test
  void oneThatGivesUpInTheMiddleHoldsNobodyUp() throws Exception {
    WaitingLines.Ticket first = lines.join("l");
    WaitingLines.Ticket second = lines.join("l");
    WaitingLines.Ticket third = lines.join("l");
    lines.leave(second);
    lines.leave(first);
    assertThat(third.place().awaitTurn(0)).isTrue();
    lines.leave(third);
  }

  @Test
  void aReleaseDuringAnAttemptIsNotMissed() throws Exception {
    WaitingLines.Ticket ticket = lines.join("l");
    long mark = ticket.line().mark();
    lines.released("l");
    long start = System.nanoTime();
    ticket.place().pause(LONG, mark);
    assertThat(System.nanoTime() - start).isLessThan(LONG / 4);
    lines.leave(ticket);
  }

  @Test
  void aReleaseWakesTheHeadAndLocksDoNotMixUp() throws Exception {
    WaitingLines.Ticket ticket = lines.join("l");
    long mark = ticket.line().mark();
    Future<?> pausing =
        threads.submit(
            () -> {
              ticket.place().pause(LONG, mark);
              return null;
            });
    lines.released("other");
    await().during(Duration.ofMillis(50)).until(() -> !pausing.isDone());
    lines.released("l");
    pausing.get(5, TimeUnit.SECONDS);
    lines.leave(ticket);
  }

  /** Many threads come and go; there is one head at a time, and no line is lost or left over. */
  @Test
  void thereIsOneHeadAtATime() throws Exception {
    AtomicInteger heads = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 2000; round++) {
                  WaitingLines.Ticket ticket = lines.join("l");
                  // Every seventh gives up unless it is its turn at once.
                  if (ticket.place().awaitTurn(round % 7 == 0 ? 0 : LONG)) {
                    assertThat(heads.incrementAndGet()).isEqualTo(1);
                    LockSupport.parkNanos(1_000);
                    assertThat(heads.decrementAndGet()).isZero();
                  }
                  lines.leave(ticket);
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(lines.isEmpty("l")).isTrue();
    assertThat(lines.waiting()).isZero();
  }
}
