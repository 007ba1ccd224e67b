package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.lease.Holding.Standing;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("defect-L7")
class ChecksTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Checks checks = new Checks();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();
  private final CountDownLatch answer = new CountDownLatch(1);

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.mutex("m"), bound, Ticker.SYSTEM);
  }

  private Standing standing() {
    asked.incrementAndGet();
    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    try {
      boolean unused = answer.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    atOnce.decrementAndGet();
    return Standing.OURS;
  }

  private CompletableFuture<Checks.Outcome> ask() {
    return CompletableFuture.supplyAsync(
        () -> checks.ask(call(Duration.ofSeconds(30)), this::standing), threads);
  }

  @Test
  void oneAsksAtATimeAndThoseWhoCameMeanwhileShareTheNextAnswer() throws Exception {
    CompletableFuture<Checks.Outcome> first = ask();
    await().until(() -> asked.get() == 1);
    long meanwhile = Ticker.SYSTEM.nanos();
    List<CompletableFuture<Checks.Outcome>> others = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      others.add(ask());
    }
    await().during(Duration.ofMillis(200)).until(() -> asked.get() == 1);
    answer.countDown();
    assertThat(first.get(30, TimeUnit.SECONDS).standing()).isEqualTo(Standing.OURS);
    for (CompletableFuture<Checks.Outcome> each : others) {
      // What the first one was told may be older than their question.
      assertThat(each.get(30, TimeUnit.SECONDS).sentAt() - meanwhile).isNotNegative();
    }
    assertThat(mostAtOnce.get()).isEqualTo(1);
  }

  @Test
  void whoWaitsForAnotherKeepsItsOwnBound() {
    CompletableFuture<Checks.Outcome> first = ask();
    await().until(() -> asked.get() == 1);
    Checks.Outcome second = checks.ask(call(Duration.ofMillis(50)), this::standing);
    assertThat(second.standing()).isEqualTo(Standing.UNKNOWN);
    assertThat(asked.get()).isEqualTo(1);
    answer.countDown();
    assertThat(first.join().standing()).isEqualTo(Standing.OURS);
  }

  @Test
  void afterOneThatFailedTheNextIsAskedAnew() {
    LockException failure = new LockException.Unanswered("no answer");
    assertThatThrownBy(
            () ->
                checks.ask(
                    call(Duration.ofSeconds(30)),
                    () -> {
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(checks.ask(call(Duration.ofSeconds(30)), () -> Standing.GONE).standing())
        .isEqualTo(Standing.GONE);
  }
}
