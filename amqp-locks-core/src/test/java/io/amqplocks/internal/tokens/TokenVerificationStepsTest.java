package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
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
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a verification does with messages that are not the token, while it looks at one of them. */
@Tag("defect-S2")
@BrokerTest(everyLine = true)
class TokenVerificationStepsTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private final List<String> received = new CopyOnWriteArrayList<>();
  private final ExecutorService background = Executors.newCachedThreadPool();
  private Fixture fixture;
  private Connection connection;
  private Connection strangers;
  private Channel stranger;
  private TokenQueues tokens;
  private String queue;
  private long stray;

  @BeforeEach
  void open(Broker broker) throws Exception {
    fixture = new Fixture(broker);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setMetricsCollector(ConsumerChannel.ARRIVALS);
    connection = factory.newConnection("tokens");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    tokens =
        new TokenQueues(
            new ConsumerChannelPool(connection, rpc, background), BrokerProfile.of(connection));
    queue = fixture.prefix() + "tokens";
    fixture.willStay(queue);
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    stranger.confirmSelect();
  }

  @AfterEach
  void close() throws Exception {
    connection.abort(1000);
    strangers.abort(1000);
    background.shutdownNow();
    fixture.close();
  }

  private static Call call() {
    return Call.on(LockId.tokenSemaphore("s"), LONG, Ticker.SYSTEM);
  }

  private void publish(String text) {
    try {
      stranger.basicPublish("", queue, null, text.getBytes(StandardCharsets.UTF_8));
      stranger.waitForConfirmsOrDie(20_000);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private @Nullable String get() {
    try {
      GetResponse got = stranger.basicGet(queue, false);
      return got == null ? null : new String(got.getBody(), StandardCharsets.UTF_8);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void declare(TokenQueueType of) throws Exception {
    Map<String, Object> arguments =
        of == TokenQueueType.QUORUM ? Map.of("x-queue-type", "quorum") : Map.of();
    stranger.queueDeclare(queue, true, false, false, arguments);
  }

  private HeldToken held(TokenQueueType of, String text) throws Exception {
    declare(of);
    publish(text);
    return taken(of);
  }

  private HeldToken taken(TokenQueueType of) {
    HeldToken token =
        Objects.requireNonNull(tokens.take(call(), new TokenQueueRef(queue, of, true)).token());
    token.approve(false);
    return token;
  }

  private static Verdict droppingStrays(Delivery came) {
    return came.content().startsWith("stray") ? Verdict.DROP : Verdict.KEEP;
  }

  private void idle(int number) {
    await().untilAsserted(() -> assertThat(stranger.messageCount(queue)).isEqualTo(number));
  }

  /**
   * Strays come to the new consumer first, each while the one before it is removed: until the queue
   * has nothing more for it, the token is where it was, and nobody else can have it.
   */
  @ParameterizedTest
  @EnumSource
  void keepsWhatItHoldsWhileItIsTakenOver(TokenQueueType of) throws Exception {
    HeldToken token = held(of, "token");
    publish("stray 1");
    List<@Nullable String> taken = new ArrayList<>();
    Answer answer =
        tokens.verify(
            call(),
            token,
            false,
            came -> {
              if (came.content().equals("token")) {
                return Verdict.KEEP;
              }
              // What was given back too early would be idle now, for us to see.
              taken.add(get());
              assertThat(token.isDoubtful()).isFalse();
              if (taken.size() < 5) {
                publish("stray " + (taken.size() + 1));
              }
              return Verdict.DROP;
            });
    assertThat(taken).hasSize(5).containsOnlyNulls();
    assertThat(answer).isEqualTo(Answer.OK);
    assertThat(token.content()).isEqualTo("token");
    tokens.release(token);
    idle(1);
  }

  /**
   * The message of another slot that came in its stead goes back first, and what is held stays
   * held.
   */
  @ParameterizedTest
  @EnumSource
  void declinesAnothersTokenWhileItIsTakenOver(TokenQueueType of) throws Exception {
    HeldToken token = held(of, "token");
    publish("other");
    List<String> seen = new ArrayList<>();
    Answer answer =
        tokens.verify(
            call(),
            token,
            true,
            came -> {
              seen.add(came.content());
              if (seen.size() == 1) {
                // Goes to somebody else, who waits for it.
                consume();
              }
              return came.content().equals("token") ? Verdict.KEEP : Verdict.EXCHANGE;
            });
    assertThat(seen).containsExactly("other", "token");
    assertThat(answer).isEqualTo(Answer.OK);
    // The verification does not wait for what goes to another client.
    await().untilAsserted(() -> assertThat(received).containsExactly("other"));
    assertThat(token.isDoubtful()).isFalse();
    tokens.release(token);
    await().untilAsserted(() -> assertThat(received).containsExactly("other", "token"));
  }

  /** If none of the many is ours, then ours is where it was, and nothing is proven. */
  @ParameterizedTest
  @EnumSource
  void losesNothingIfOnlyOthersTokensCome(TokenQueueType of) throws Exception {
    HeldToken token = held(of, "token");
    publish("other");
    Answer answer =
        tokens.verify(
            call(),
            token,
            true,
            came -> came.content().equals("token") ? Verdict.KEEP : Verdict.EXCHANGE);
    assertThat(answer).isEqualTo(Answer.TIMED_OUT);
    assertThat(token.isHere()).isTrue();
    assertThat(token.content()).isEqualTo("token");
    idle(1);
    tokens.release(token);
    idle(2);
  }

  /** Another client had the token in between, and its content is the same. */
  @ParameterizedTest
  @EnumSource
  void isDoubtfulIfAnotherHadItInBetween(TokenQueueType of) throws Exception {
    HeldToken token = held(of, "token");
    if (of == TokenQueueType.QUORUM) {
      takeAheadOfUsOnce();
      assertThat(doubtsDuringVerification(token)).startsWith(true);
    } else {
      assertIsWithoutDoubt(token, true);
    }
    assertThat(received).containsOnly("token");
    assertIsWithoutDoubt(token, false);
    tokens.release(token);
  }

  /**
   * On a busy machine a token may come late, and is in doubt until it is proven, but hardly each
   * time. A classic queue does not count returns, so there another client's turn shows nothing.
   */
  private void assertIsWithoutDoubt(HeldToken token, boolean anotherHasIt) throws Exception {
    List<Boolean> doubts = List.of(true);
    for (int i = 0; i < 5 && doubts.contains(true); i++) {
      if (anotherHasIt) {
        takeAheadOfUsOnce();
      }
      doubts = doubtsDuringVerification(token);
    }
    assertThat(doubts).containsExactly(false);
  }

  private List<Boolean> doubtsDuringVerification(HeldToken token) {
    List<Boolean> doubts = new ArrayList<>();
    Answer answer =
        tokens.verify(
            call(),
            token,
            false,
            came -> {
              doubts.add(token.isDoubtful());
              return Verdict.KEEP;
            });
    assertThat(answer).isEqualTo(Answer.OK);
    return doubts;
  }

  /** Receives one message before all others do, and puts it back. */
  private void takeAheadOfUsOnce() throws Exception {
    Channel channel = strangers.createChannel();
    channel.basicQos(1);
    channel.basicConsume(
        queue,
        false,
        Map.of("x-priority", TokenQueues.KEEPERS_PRIORITY + 1),
        (tag, message) -> {
          received.add(new String(message.getBody(), StandardCharsets.UTF_8));
          // A cancel that waits for its reply would not be over before the message comes again.
          var unused =
              channel.asyncCompletableRpc(new Basic.Cancel.Builder().consumerTag(tag).build());
          channel.basicNack(message.getEnvelope().getDeliveryTag(), false, true);
        },
        tag -> {});
  }

  private void consume() {
    try {
      Channel channel = strangers.createChannel();
      channel.basicConsume(
          queue,
          false,
          (tag, message) -> received.add(new String(message.getBody(), StandardCharsets.UTF_8)),
          tag -> {});
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * By a nack it could give back what is another's by now: that the broker forgot it, it does not
   * know.
   */
  @ParameterizedTest
  @EnumSource
  void aTokenThatIsGoneGoesBackWithItsChannel(TokenQueueType of) throws Exception {
    for (boolean verified : new boolean[] {false, true}) {
      HeldToken token = verified ? taken(of) : held(of, "token");
      if (verified) {
        assertThat(tokens.verify(call(), token, false, came -> Verdict.KEEP)).isEqualTo(Answer.OK);
      }
      Channel channel = token.message().channel();
      token.gone(new LossReason(Cause.REVOKED, "by the test"));
      tokens.release(token);
      await().until(() -> !channel.isOpen());
      idle(1);
    }
  }

  /**
   * Somebody looked at the stray and put it back, so that it comes before what is given back later.
   */
  @ParameterizedTest
  @EnumSource
  void isInDoubtWhileAStrayIsHadInsteadOfTheToken(TokenQueueType of) throws Exception {
    long least = Long.MAX_VALUE;
    // A busy machine may stall, but hardly each time.
    for (int i = 0; i < 5 && least >= TokenArrivals.LONGEST_ELSEWHERE; i++) {
      queue = fixture.prefix() + "tokens-" + i;
      fixture.willStay(queue);
      least = Math.min(least, awaitedWhileAStrayIsHad(of));
    }
    // If it waited, the two would pass one token to each other.
    assertThat(least).isLessThan(TokenArrivals.LONGEST_ELSEWHERE);
  }

  private long awaitedWhileAStrayIsHad(TokenQueueType of) throws Exception {
    HeldToken token = verifiedBehindAStray(of);
    CompletableFuture<Void> judging = new CompletableFuture<>();
    CompletableFuture<Void> judge = new CompletableFuture<>();
    CompletableFuture<Answer> verified =
        CompletableFuture.supplyAsync(
            () ->
                tokens.verify(
                    call(),
                    token,
                    false,
                    came -> {
                      judging.complete(null);
                      judge.join();
                      return droppingStrays(came);
                    }),
            background);
    judging.get(20, TimeUnit.SECONDS);
    assertThat(token.isDoubtful()).isTrue();
    // It goes back by a message that nobody waits for.
    assertThat(await().until(this::get, Objects::nonNull)).isEqualTo("token");
    judge.complete(null);
    assertThat(verified.get(20, TimeUnit.SECONDS)).isEqualTo(Answer.ABSENT);
    long awaited = token.awaitedFor();
    assertThat(token.isGone()).isTrue();
    return awaited;
  }

  /** After that, a loss is judged as any other. */
  @ParameterizedTest
  @EnumSource
  void isVerifiedIfTheTokenComesAfterAStray(TokenQueueType of) throws Exception {
    HeldToken token = verifiedBehindAStray(of);
    List<Boolean> displaced = new ArrayList<>();
    Answer answer =
        tokens.verify(
            call(),
            token,
            false,
            came -> {
              displaced.add(token.isDisplaced());
              return droppingStrays(came);
            });
    assertThat(answer).isEqualTo(Answer.OK);
    assertThat(displaced).containsExactly(false, true);
    assertThat(token.isDisplaced()).isFalse();
    assertThat(token.isDoubtful()).isFalse();
  }

  /** Its next verification meets the stray, which somebody has put back. */
  private HeldToken verifiedBehindAStray(TokenQueueType of) throws Exception {
    HeldToken token = heldBehindAStray(of);
    assertThat(tokens.verify(call(), token, false, TokenVerificationStepsTest::droppingStrays))
        .isEqualTo(Answer.OK);
    assertThat(token.isDoubtful()).isFalse();
    stranger.basicNack(stray, false, true);
    idle(1);
    return token;
  }

  /**
   * A quorum queue serves first what was put back first; on a classic queue the stray is the older
   * one.
   */
  private HeldToken heldBehindAStray(TokenQueueType of) throws Exception {
    if (of == TokenQueueType.CLASSIC) {
      declare(of);
      publish("stray");
      stray = stranger.basicGet(queue, false).getEnvelope().getDeliveryTag();
      return held(of, "token");
    }
    HeldToken token = held(of, "token");
    publish("stray");
    stray = stranger.basicGet(queue, false).getEnvelope().getDeliveryTag();
    return token;
  }
}
