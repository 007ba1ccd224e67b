package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.TrafficListener;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannel;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.tokens.ReturnedMessageJudge.Verdict;
import io.amqplocks.internal.tokens.TokenArrivals.Idle;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The token of a fenced lease, which others cannot stand for. At its first verification its
 * consumer gets the highest priority, and has no room for another client's token meanwhile.
 */
@BrokerTest(everyLine = true)
class KeptTokenTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final ExecutorService background = Executors.newCachedThreadPool();
  private final AtomicReference<@Nullable Runnable> atCancel = new AtomicReference<>();
  private final AtomicReference<@Nullable Runnable> atConsumeOk = new AtomicReference<>();
  private final BlockingQueue<GotMessage> strangersGot = new LinkedBlockingQueue<>();
  private final List<Long> returns = new ArrayList<>();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private Connection strangers;
  private Channel stranger;
  private TokenQueues tokens;
  private String queue;

  /** A message at the stranger's consumer. */
  private record GotMessage(String text, long tag, @Nullable Object returns) {}

  @BeforeEach
  void open(Broker broker) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setMetricsCollector(ConsumerChannel.ARRIVALS);
    factory.setTrafficListener(new AtConsumeOk());
    connection = factory.newConnection("tokens");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    tokens =
        new TokenQueues(
            new ConsumerChannelPool(connection, rpc, background), BrokerProfile.of(connection));
    queue = fixture.prefix() + "tokens";
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    stranger.basicQos(1);
    stranger.confirmSelect();
    stranger.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    strangers.abort(1000);
    background.shutdownNow();
  }

  /**
   * Acts once when a consumer is cancelled, and once when the broker has begun one, before the
   * thread that asked is told.
   */
  private final class AtConsumeOk implements TrafficListener {
    @Override
    public void write(Command outbound) {
      Runnable once =
          outbound.getMethod() instanceof Basic.Cancel ? atCancel.getAndSet(null) : null;
      if (once != null) {
        once.run();
      }
    }

    @Override
    public void read(Command inbound) {
      Runnable once =
          inbound.getMethod() instanceof Basic.ConsumeOk ? atConsumeOk.getAndSet(null) : null;
      if (once != null) {
        once.run();
      }
    }
  }

  private static Call call(Duration bound) {
    return Call.on(LockId.tokenSemaphore("s"), bound, Ticker.SYSTEM);
  }

  private void publish(String text) throws Exception {
    stranger.basicPublish("", queue, null, text.getBytes(StandardCharsets.UTF_8));
    stranger.waitForConfirmsOrDie(20_000);
  }

  private HeldToken held(String text) throws Exception {
    publish(text);
    TokenQueueRef ref = new TokenQueueRef(queue, TokenQueueType.QUORUM, true);
    HeldToken token =
        await()
            .atMost(LONG)
            .until(() -> tokens.takeByConsumer(call(LONG), ref).token(), Objects::nonNull);
    token.approve(false);
    return Objects.requireNonNull(token);
  }

  /** Verifies the token, for a lease that only this one can stand for. */
  private Answer verify(HeldToken token, Duration bound) {
    return tokens.verify(
        call(bound),
        token,
        true,
        came -> {
          returns.add(came.returns());
          return came.content().equals("ours") ? Verdict.KEEP : Verdict.EXCHANGE;
        });
  }

  /** The stranger consumes as a client that takes its token over: ahead of all waiters. */
  private void strangerConsumes() throws Exception {
    stranger.basicConsume(
        queue,
        false,
        Map.of("x-priority", TokenQueues.HOLDERS_PRIORITY),
        (tag, message) -> {
          Map<String, Object> headers = message.getProperties().getHeaders();
          strangersGot.add(
              new GotMessage(
                  new String(message.getBody(), StandardCharsets.UTF_8),
                  message.getEnvelope().getDeliveryTag(),
                  headers == null
                      ? null
                      : headers.getOrDefault("x-acquired-count", headers.get("x-delivery-count"))));
        },
        tag -> {});
  }

  private GotMessage strangersNext() {
    try {
      return Objects.requireNonNull(strangersGot.poll(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What comes late, as on a machine that stalls, is verified once more. */
  private void nobodyHadItInBetween(long before, int verifications) {
    assertThat(returns).hasSizeGreaterThanOrEqualTo(verifications);
    for (int i = 0; i < returns.size(); i++) {
      assertThat(returns.get(i)).as("%s", returns).isEqualTo(before + 1 + i);
    }
  }

  @Test
  void isNeverSentToAnotherHolderThatHasRoom() throws Exception {
    HeldToken token = held("ours");
    long before = token.returns();
    strangerConsumes();
    for (int i = 0; i < 5; i++) {
      assertThat(verify(token, LONG)).isEqualTo(Answer.OK);
      assertThat(token.isDoubtful()).isFalse();
    }
    nobodyHadItInBetween(before, 5);
    assertThat(strangersGot).isEmpty();
    tokens.release(token);
    assertThat(strangersNext().text()).isEqualTo("ours");
  }

  /**
   * It came when its verification had given up, and another token is idle since: it cannot be given
   * back once more. Its count proves it, and without that it stays in doubt.
   */
  @Test
  void whatCameLateIsJudgedBesideAnIdleToken() throws Exception {
    HeldToken token = held("ours");
    assertThat(verify(token, LONG)).isEqualTo(Answer.OK);
    int unused = token.missed();
    Objects.requireNonNull(token.giveBack(token.receiver())).message().putBack();
    await().atMost(LONG).until(token::isHere);
    publish("another");
    assertThat(tokens.idleBesides(call(LONG), token)).isEqualTo(Idle.SOME);
    assertThat(token.isDoubtful()).isTrue();
    assertThat(tokens.judgeLate(call(LONG), token, came -> Verdict.EXCHANGE)).isFalse();
    assertThat(token.isDoubtful()).isTrue();
    assertThat(tokens.judgeLate(call(LONG), token, came -> Verdict.PROVEN)).isTrue();
    assertThat(token.isDoubtful()).isFalse();
    assertThat(token.isHere()).isTrue();
  }

  /** Each may have been with another client that was slow. More are another holder's. */
  @Test
  void tokensThatComeLateInSuccessionAreCounted() throws Exception {
    HeldToken token = held("ours");
    for (int late = 0; late < 3; late++) {
      assertThat(token.missed()).isEqualTo(late);
      assertThat(token.isDoubtful()).isTrue();
      token.approve(false);
      assertThat(token.isLate()).isTrue();
      assertThat(token.isDoubtful()).isTrue();
    }
    token.approve(false);
    assertThat(token.isLate()).isFalse();
    assertThat(token.isDoubtful()).isFalse();
    assertThat(token.missed()).isZero();
    token.approve(true);
    assertThat(token.isDoubtful()).isFalse();
  }

  /** What another holder gives back at that moment comes back to that holder. */
  @Test
  void leavesAnotherHolderItsToken() throws Exception {
    HeldToken token = held("ours");
    publish("another");
    strangerConsumes();
    GotMessage another = strangersNext();
    assertThat(another.text()).isEqualTo("another");
    List<String> came = new ArrayList<>();
    atConsumeOk.set(
        () -> {
          try {
            stranger.basicNack(another.tag(), false, true);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
          came.add(strangersNext().text());
        });
    assertThat(verify(token, LONG)).isEqualTo(Answer.OK);
    assertThat(came).containsExactly("another");
    assertThat(returns).as("one message came").hasSize(1);
    assertThat(strangersGot).isEmpty();
    tokens.release(token);
  }

  /** The cancel of the release has the tag of the consumer that is just begun again. */
  @Test
  void isReleasedWhileItsConsumerIsBegunAgain() throws Exception {
    for (int i = 0; i < 20; i++) {
      HeldToken token = held("ours");
      atConsumeOk.set(() -> tokens.release(token));
      assertThat(verify(token, LONG)).isEqualTo(Answer.ABSENT);
      assertThat(token.isGone()).as("by the broker").isFalse();
      await()
          .atMost(LONG)
          .untilAsserted(
              () -> {
                assertThat(stranger.consumerCount(queue)).isZero();
                assertThat(stranger.messageCount(queue)).isOne();
              });
      assertThat(stranger.queuePurge(queue).getMessageCount()).isOne();
    }
  }

  /** If it went back at once, its consumer would be begun again as a new one, which has room. */
  @Test
  void isReleasedBetweenTheTwoStepsWithoutRoomForAnotherToken() throws Exception {
    HeldToken token = held("ours");
    publish("another");
    strangerConsumes();
    GotMessage another = strangersNext();
    List<GotMessage> came = new ArrayList<>();
    atCancel.set(() -> tokens.release(token));
    atConsumeOk.set(
        () -> {
          try {
            stranger.basicNack(another.tag(), false, true);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
          came.add(strangersNext());
        });
    assertThat(verify(token, LONG)).isEqualTo(Answer.ABSENT);
    assertThat(came).extracting(GotMessage::text).containsExactly("another");
    assertThat(came).extracting(GotMessage::returns).containsExactly(1L);
    await()
        .atMost(LONG)
        .untilAsserted(
            () -> {
              assertThat(stranger.consumerCount(queue)).as("the stranger's").isOne();
              assertThat(stranger.messageCount(queue)).as("ours").isOne();
            });
  }

  /** Its consumer may have been begun again or not. Nothing is given back before that is known. */
  @Test
  void staysWhereItIsIfTheBrokerDoesNotAnswer() throws Exception {
    HeldToken token = held("ours");
    long before = token.returns();
    strangerConsumes();
    assertThat(verify(token, Duration.ofNanos(1))).isEqualTo(Answer.TIMED_OUT);
    assertThat(token.isHere()).isTrue();
    await().atMost(LONG).untilAsserted(() -> assertThat(verify(token, LONG)).isEqualTo(Answer.OK));
    nobodyHadItInBetween(before, 1);
    assertThat(strangersGot).isEmpty();
    tokens.release(token);
    assertThat(strangersNext().text()).isEqualTo("ours");
  }

  /** It is the consumer's all the time, also for the broker that loses the connection. */
  @Test
  void goesBackWithItsConnection() throws Exception {
    HeldToken token = held("ours");
    atConsumeOk.set(() -> background.execute(() -> connection.abort(1000)));
    Delivery message = token.message();
    try {
      Answer unused = verify(token, LONG);
    } catch (io.amqplocks.lock.LockException e) {
      assertThat(message.channel().isOpen()).isFalse();
    }
    strangerConsumes();
    assertThat(strangersNext().text()).isEqualTo("ours");
  }
}
