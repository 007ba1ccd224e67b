package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What comes of waiting for a token is had once. */
@Tag("defect-S3")
@BrokerTest
class TokenSubscriptionTest {

  private final ExecutorService background = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private Connection strangers;
  private Channel stranger;
  private TokenQueues tokens;
  private String queue;

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("tokens");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    tokens =
        new TokenQueues(
            new ConsumerChannelPool(connection, rpc, background), BrokerProfile.of(connection));
    queue = fixture.prefix() + "tokens";
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    stranger.queueDeclare(queue, true, false, false, null);
  }

  @AfterEach
  void close() throws Exception {
    connection.abort(1000);
    strangers.abort(1000);
    background.shutdownNow();
  }

  private TokenSubscription served() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    Call call = Call.on(LockId.tokenSemaphore("s"), Duration.ofSeconds(20), Ticker.SYSTEM);
    TokenSubscription subscription =
        tokens
            .await(
                call, new TokenQueueRef(queue, TokenQueueType.CLASSIC, true), 0, arrived::countDown)
            .orElseThrow();
    stranger.basicPublish("", queue, null, "token".getBytes(StandardCharsets.UTF_8));
    assertThat(arrived.await(30, TimeUnit.SECONDS)).isTrue();
    return subscription;
  }

  private void isIdle() {
    await()
        .untilAsserted(
            () -> {
              assertThat(stranger.messageCount(queue)).isEqualTo(1);
              assertThat(stranger.consumerCount(queue)).isZero();
            });
  }

  @Test
  void whatIsClaimedIsNobodyElses() throws Exception {
    TokenSubscription subscription = served();
    HeldToken token = subscription.claim().orElseThrow();
    assertThat(subscription.claim()).isEmpty();
    subscription.close();
    assertThat(token.isHere()).isTrue();
    assertThat(stranger.messageCount(queue)).isZero();
    tokens.release(token);
    assertThat(subscription.claim()).isEmpty();
    isIdle();
  }

  @Test
  void whatIsClosedIsNotClaimed() throws Exception {
    TokenSubscription subscription = served();
    subscription.close();
    assertThat(subscription.claim()).isEmpty();
    assertThat(subscription.isOver()).isTrue();
    isIdle();
  }

  /** It goes back with its channel, which carries nothing else after that. */
  @Test
  void whatIsNoTokenAndWasTakenAwayKeepsNoChannel() throws Exception {
    HeldToken stray = served().claim().orElseThrow();
    stray.gone(new LossReason(LossReason.Cause.REVOKED, "by the test"));
    tokens.drop(stray);
    isIdle();
  }
}
