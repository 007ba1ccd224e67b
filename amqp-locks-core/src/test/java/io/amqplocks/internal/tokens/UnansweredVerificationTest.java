package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannel;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.tokens.ReturnedMessageJudge.Verdict;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What becomes of a token whose verification the queue does not answer in time, or that meets a
 * release or another verification. It had been got, so a consumer has to take it over first.
 */
@Tag("defect-S2")
@BrokerTest(everyLine = true)
class UnansweredVerificationTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private final ExecutorService background = Executors.newCachedThreadPool();
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private Connection strangers;
  private Channel stranger;
  private TokenQueues tokens;
  private String queue;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    ConnectionFactory factory = broker.connectionFactory();
    factory.setMetricsCollector(ConsumerChannel.ARRIVALS);
    connection = factory.newConnection("tokens");
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
    broker.faults().resumeQueue(queue);
    connection.abort(1000);
    strangers.abort(1000);
    background.shutdownNow();
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.tokenSemaphore("s"), bound, Ticker.SYSTEM);
  }

  private HeldToken take(int there) throws Exception {
    for (int i = 1; i <= there; i++) {
      stranger.basicPublish("", queue, null, ("token " + i).getBytes(StandardCharsets.UTF_8));
    }
    await().until(() -> stranger.messageCount(queue) == there);
    return Objects.requireNonNull(
        tokens.take(call(LONG), new TokenQueueRef(queue, TokenQueueType.CLASSIC, true)).token());
  }

  private Answer verify(HeldToken token, Duration bound) {
    return tokens.verify(call(bound), token, false, came -> Verdict.KEEP);
  }

  /** Nobody hides any, and nobody waits in front of all others for one that he does not want. */
  private void idle(int number) {
    await()
        .untilAsserted(
            () -> {
              assertThat(stranger.consumerCount(queue)).as("consumers").isZero();
              assertThat(stranger.messageCount(queue)).as("idle tokens").isEqualTo(number);
            });
  }

  @Test
  void leavesTheTokenWhereItWasAndTakesNoOther() throws Exception {
    HeldToken token = take(2);
    broker.faults().suspendQueue(queue);
    assertThat(verify(token, Duration.ofMillis(500))).isEqualTo(Answer.TIMED_OUT);
    assertThat(token.isHere()).isTrue();
    assertThat(token.content()).isEqualTo("token 1");
    broker.faults().resumeQueue(queue);
    idle(1);
    assertThat(verify(token, LONG)).isEqualTo(Answer.OK);
    tokens.release(token);
    idle(2);
  }

  @Test
  void meetsAReleaseAndHidesNothing() throws Exception {
    HeldToken token = take(1);
    broker.faults().suspendQueue(queue);
    Future<Answer> verification = background.submit(() -> verify(token, LONG));
    await().until(() -> !token.isHere());
    Future<?> release = background.submit(() -> tokens.release(token));
    await().until(() -> token.state().phase() == TokenState.Phase.LEFT);
    broker.faults().resumeQueue(queue);
    release.get(60, TimeUnit.SECONDS);
    assertThat(verification.get(60, TimeUnit.SECONDS)).isNotEqualTo(Answer.LOCKED);
    idle(1);
  }

  /** Each would give back what the other waits for. */
  @Test
  void takesTurnsWithAnother() throws Exception {
    HeldToken token = take(1);
    Callable<Void> verifying =
        () -> {
          for (int i = 0; i < 50; i++) {
            assertThat(verify(token, LONG)).isEqualTo(Answer.OK);
          }
          return null;
        };
    Future<Void> one = background.submit(verifying);
    Future<Void> other = background.submit(verifying);
    one.get(60, TimeUnit.SECONDS);
    other.get(60, TimeUnit.SECONDS);
    tokens.release(token);
    idle(1);
  }
}
