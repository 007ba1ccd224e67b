package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client refuses more than 64 MiB by closing its connection; brokers up to 3.13 take 128. */
@BrokerTest(everyLine = true, before = "4.0")
@Tag("defect-S4")
class HugeMessageTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);

  @ParameterizedTest
  @EnumSource
  void aHugeMessageCostsNoLease(TokenQueueType type) throws Exception {
    admin.create(1, type);
    locks.admin().tokenSemaphore("other").create(1, type);
    try (Lease other = locks.tokenSemaphore("other").acquire(LONG);
        Lease one = locks.tokenSemaphore("s").acquire(LONG)) {
      Channel forger = stranger.createChannel();
      forger.confirmSelect();
      forger.basicPublish("", tokens(1), null, new byte[70 << 20]);
      forger.waitForConfirmsOrDie(30_000);
      forger.close();
      assertThat(locks.tokenSemaphore("s").tryAcquire())
          .as(() -> one + " " + one.lossReason())
          .isEmpty();
      assertThat(other.verify()).isEqualTo(LeaseState.HELD);
      assertThat(one.verify()).isEqualTo(LeaseState.HELD);
    }
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, tokens(1))).hasSize(1));
  }
}
