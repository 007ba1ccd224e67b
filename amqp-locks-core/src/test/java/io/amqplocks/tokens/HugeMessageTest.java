package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client refuses more than 64 MiB by closing its connection; brokers up to 3.13 take 128. */
@BrokerTest(everyLine = true, before = "4.0")
@Tag("defect-S4")
class HugeMessageTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);

  /** A tenth of a second, and what a busy machine needs. */
  private static final Duration SOON = Duration.ofMillis(500);

  /** Of the time between two looks no more counts: a machine that stalls does not look. */
  private static final Duration LOOK = Duration.ofMillis(50);

  private void publishHuge() throws Exception {
    Channel forger = stranger.createChannel();
    forger.confirmSelect();
    forger.basicPublish("", tokens(1), null, new byte[70 << 20]);
    forger.waitForConfirmsOrDie(30_000);
    forger.close();
  }

  /**
   * Both are verified before, by consumers that have no room for more. A classic queue puts what is
   * given back where it was, before the huge message. A quorum queue puts it behind. So the huge
   * message may come to the holder when it verifies, and another client may get the token. They
   * must not both say HELD for long. The other one verifies too, so either of them may keep the
   * token.
   */
  @ParameterizedTest
  @EnumSource
  void aHugeMessageGivesNoTokenToTwo(TokenQueueType type) throws Exception {
    admin.create(1, type);
    locks.admin().tokenSemaphore("other").create(1, type);
    try (Lease other = locks.tokenSemaphore("other").acquire(LONG);
        Lease one = locks.tokenSemaphore("s").acquire(LONG)) {
      assertThat(List.of(other.verify(), one.verify())).containsOnly(LeaseState.HELD);
      publishHuge();
      Optional<Lease> second = locks.tokenSemaphore("s").tryAcquire();
      if (type == TokenQueueType.CLASSIC) {
        assertThat(second).as(() -> one + " " + one.lossReason()).isEmpty();
      }
      if (second.isPresent()) {
        Lease two = second.get();
        assertThat(bothSayHeld(one, two)).isLessThan(SOON);
        await()
            .untilAsserted(
                () ->
                    assertThat(List.of(one.state(), two.state()))
                        .containsExactlyInAnyOrder(LeaseState.HELD, LeaseState.LOST));
        two.close();
      } else {
        assertThat(one.verify()).isEqualTo(LeaseState.HELD);
      }
      assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    }
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, tokens(1))).hasSize(1));
  }

  /** For how long they do, as far as somebody looked. */
  private static Duration bothSayHeld(Lease one, Lease two) {
    long[] counted = {0, System.nanoTime()};
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              long now = System.nanoTime();
              if (one.state() != LeaseState.HELD || two.state() != LeaseState.HELD) {
                return true;
              }
              counted[0] += Math.min(now - counted[1], LOOK.toNanos());
              counted[1] = now;
              return counted[0] >= SOON.toNanos();
            });
    return Duration.ofNanos(counted[0]);
  }

  /** A holder that is verified for the first time meets the message, which lies there already. */
  @ParameterizedTest
  @EnumSource
  void aTokenIsNotGivenBackWhileAHugeMessageIsUnderWay(TokenQueueType type) throws Exception {
    admin.create(1, type);
    AmqpLocks seldom = fixture.open(fixture.seldomVerifying());
    try (Lease one = seldom.tokenSemaphore("s").acquire(LONG)) {
      publishHuge();
      CompletableFuture<LeaseState> verified = CompletableFuture.supplyAsync(one::verify);
      do {
        assertThat(locks.tokenSemaphore("s").tryAcquire())
            .as(() -> one + " " + one.lossReason())
            .isEmpty();
      } while (!verified.isDone());
      assertThat(verified.get()).isIn(LeaseState.HELD, LeaseState.UNCERTAIN);
      await().untilAsserted(() -> assertThat(one.verify()).isEqualTo(LeaseState.HELD));
    }
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, tokens(1))).hasSize(1));
  }
}
