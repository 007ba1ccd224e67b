package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Administrators of tokens who wait for their turn. */
@BrokerTest(everyLine = true)
class AdminTurnTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);

  private void takeTheTurn(LockId lock) throws Exception {
    holder.queueDeclare(fixture.names().tokenAdmin(lock), false, true, false, null);
  }

  @Test
  void whoWaitsForTheTurnIsSentAwayByCloseAndByInterrupt() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Tokens.take(holder, tokens(1), 2);
    admin.resize(1);
    takeTheTurn(ID);
    // The withdrawal has one in hand, and waits for the turn.
    holder.basicNack(1, false, true);
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    CompletableFuture<Void> change = new CompletableFuture<>();
    Thread waiting =
        new Thread(
            () ->
                change.completeAsync(
                    () -> {
                      admin.resize(1);
                      return null;
                    },
                    Runnable::run));
    waiting.start();
    Thread interrupted =
        new Thread(
            () -> {
              TokenSemaphoreAdmin other = fixture.open().admin().tokenSemaphore("s");
              assertThatThrownBy(() -> other.resize(1))
                  .isInstanceOf(LockException.Interrupted.class);
            });
    CompletableFuture<Throwable> wrong = new CompletableFuture<>();
    interrupted.setUncaughtExceptionHandler((thread, failure) -> wrong.complete(failure));
    interrupted.start();
    interrupted.interrupt();
    interrupted.join(30_000);
    assertThat(interrupted.isAlive()).isFalse();
    assertThat(wrong).isNotDone();
    await().until(() -> isWaitingForTheTurn(waiting));
    long start = System.nanoTime();
    locks.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    assertThatThrownBy(change::join)
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(LockException.Closed.class);
    holder.queueDelete(fixture.names().tokenAdmin(ID));
    TokenSemaphoreAdmin other = fixture.open().admin().tokenSemaphore("s");
    await()
        .untilAsserted(
            () -> assertThat(other.status()).isEqualTo(new TokenStatus(1, 2, 1, 1, 1, 0)));
  }

  private static boolean isWaitingForTheTurn(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().equals(TurnWait.class.getName())
                    && frame.getMethodName().equals("pause"));
  }

  @Test
  void theFirstAcquireOfAFencedMutexWaitsNoLongerThanACall() throws Exception {
    takeTheTurn(LockId.fencedMutex("m"));
    AmqpLocks hasty = fixture.connected(fixture.builder().callTimeout(Duration.ofSeconds(4)));
    long start = System.nanoTime();
    assertThatThrownBy(() -> hasty.fencedMutex("m").tryAcquire())
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining("fenced mutex 'm'")
        // After an upgrade of the broker this process moves the tokens in the background.
        .hasMessageContaining("by another process or by this one");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  @Test
  void aRepairLeavesAWithdrawalAtWork() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Tokens.take(holder, tokens(1), 2);
    assertThat(Tokens.resized(admin, 1).pendingWithdrawals()).isEqualTo(1);
    takeTheTurn(ID);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> admin.repair(LONG)).isInstanceOf(LockException.Interrupted.class);
    assertThat(Thread.interrupted()).isTrue();
    holder.queueDelete(fixture.names().tokenAdmin(ID));
    holder.basicNack(1, false, true);
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
  }
}
