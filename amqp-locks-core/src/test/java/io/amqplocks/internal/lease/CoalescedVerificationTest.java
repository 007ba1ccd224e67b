package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.Hold.HoldStatus;
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
class CoalescedVerificationTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CoalescedVerification verification = new CoalescedVerification();
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

  private HoldStatus status() {
    asked.incrementAndGet();
    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    try {
      boolean unused = answer.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    atOnce.decrementAndGet();
    return HoldStatus.OURS;
  }

  private CompletableFuture<CoalescedVerification.Outcome> ask() {
    return CompletableFuture.supplyAsync(
        () -> verification.ask(call(Duration.ofSeconds(30)), this::status), threads);
  }

  @Test
  void oneAsksAtATimeAndThoseWhoCameMeanwhileShareTheNextAnswer() throws Exception {
    CompletableFuture<CoalescedVerification.Outcome> first = ask();
    await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() == 1);
    long meanwhile = Ticker.SYSTEM.nanos();
    List<CompletableFuture<CoalescedVerification.Outcome>> others = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      others.add(ask());
    }
    await().during(Duration.ofMillis(200)).until(() -> asked.get() == 1);
    answer.countDown();
    assertThat(first.get(30, TimeUnit.SECONDS).status()).isEqualTo(HoldStatus.OURS);
    for (CompletableFuture<CoalescedVerification.Outcome> each : others) {
      // What the first one was told may be older than their question.
      assertThat(each.get(30, TimeUnit.SECONDS).sentAt() - meanwhile).isNotNegative();
    }
    assertThat(mostAtOnce.get()).isEqualTo(1);
  }

  @Test
  void whoWaitsForAnotherKeepsItsOwnBound() {
    CompletableFuture<CoalescedVerification.Outcome> first = ask();
    await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() == 1);
    CoalescedVerification.Outcome second =
        verification.ask(call(Duration.ofMillis(50)), this::status);
    assertThat(second.status()).isEqualTo(HoldStatus.UNKNOWN);
    assertThat(asked.get()).isEqualTo(1);
    answer.countDown();
    assertThat(first.join().status()).isEqualTo(HoldStatus.OURS);
  }

  @Test
  void afterOneThatFailedTheNextIsAskedAnew() {
    LockException failure = new LockException.Unanswered("no answer");
    assertThatThrownBy(
            () ->
                verification.ask(
                    call(Duration.ofSeconds(30)),
                    () -> {
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(verification.ask(call(Duration.ofSeconds(30)), () -> HoldStatus.GONE).status())
        .isEqualTo(HoldStatus.GONE);
  }
}
