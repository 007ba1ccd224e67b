package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
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
import io.amqplocks.internal.tokens.TokenQueues.Take;
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
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the broker has sent to a consumer of a token, and this process has not looked at yet. */
@Tag("defect-S2")
@BrokerTest(everyLine = true)
class TokenUnderWayTest {

  private final ExecutorService background = Executors.newCachedThreadPool();
  private final ExecutorService deliveries = Executors.newSingleThreadExecutor();
  private final CountDownLatch read = new CountDownLatch(1);
  private final AtomicReference<Runnable> consuming = new AtomicReference<>(() -> {});
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private Connection strangers;
  private Channel stranger;
  private TokenQueues tokens;
  private String queue;

  @BeforeEach
  void open(Broker broker) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setMetricsCollector(ConsumerChannel.ARRIVALS);
    factory.setTrafficListener(new AtConsume());
    connection = factory.newConnection(deliveries, "tokens");
    RpcChannelPool rpc = new RpcChannelPool(connection, background, Ticker.SYSTEM);
    tokens =
        new TokenQueues(
            new ConsumerChannelPool(connection, rpc, background), BrokerProfile.of(connection));
    queue = fixture.prefix() + "tokens";
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    stranger.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
  }

  /** Nothing of the last try is in it. */
  private void useAnotherQueue() throws Exception {
    queue += "-again";
    stranger.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
  }

  @AfterEach
  void close() throws Exception {
    read.countDown();
    connection.abort(1000);
    strangers.abort(1000);
    deliveries.shutdownNow();
    background.shutdownNow();
  }

  /** Acts when the broker has confirmed a consumer, before the thread that asked for it is told. */
  private final class AtConsume implements TrafficListener {
    @Override
    public void write(Command outbound) {}

    @Override
    public void read(Command inbound) {
      if (inbound.getMethod() instanceof Basic.ConsumeOk) {
        consuming.get().run();
      }
    }
  }

  private static Call call() {
    return Call.on(LockId.tokenSemaphore("s"), Duration.ofSeconds(20), Ticker.SYSTEM);
  }

  private void publish(String text) throws Exception {
    stranger.basicPublish("", queue, null, text.getBytes(StandardCharsets.UTF_8));
  }

  /** The broker takes the token back, and nobody says so: as after a link that dropped. */
  @Test
  void aHolderThatIsSentAnotherTokenIsNotVerifiedBeforeThatIsSeen() throws Exception {
    publish("one");
    await().until(() -> stranger.messageCount(queue) == 1);
    HeldToken held = Objects.requireNonNull(tokens.takeByConsumer(call(), any()).token());
    publish("two");
    publish("three");
    await().until(() -> stranger.messageCount(queue) == 2);
    assertThat(tokens.idleBesides(call(), held)).isEqualTo(Idle.SOME);
    deliveries.execute(this::awaitRead);
    held.message().putBack();
    await().until(() -> held.receiver().loan().isReceiving());
    assertThat(held.isGone()).isFalse();
    assertThat(tokens.idleBesides(call(), held)).isEqualTo(Idle.UNKNOWN);
    read.countDown();
    await().until(held::isGone);
  }

  /** All messages of the queue are tokens. */
  private TokenQueueRef any() {
    return new TokenQueueRef(queue, TokenQueueType.QUORUM, true);
  }

  private static Verdict droppingStrays(Delivery came) {
    return came.content().startsWith("stray") ? Verdict.DROP : Verdict.KEEP;
  }

  private HeldToken got() throws Exception {
    publish("one");
    await().until(() -> stranger.messageCount(queue) == 1);
    HeldToken held = Objects.requireNonNull(tokens.take(call(), any()).token());
    held.approve(false);
    return held;
  }

  /**
   * While a token is taken over, its new consumer has room and its former message is still held. So
   * another token's message may go there when it is given back.
   */
  @Test
  void aTokenIsNotCalledLostWhileAnotherOneIsTakenOver() throws Exception {
    HeldToken first = got();
    assertThat(verify(first)).isEqualTo(Answer.OK);
    publish("two");
    await().until(() -> stranger.messageCount(queue) == 1);
    HeldToken second = Objects.requireNonNull(tokens.take(call(), any()).token());
    second.approve(false);
    publish("three");
    await().until(() -> stranger.messageCount(queue) == 1);
    CountDownLatch came = new CountDownLatch(1);
    Future<Answer> takingOver =
        background.submit(
            () ->
                tokens.verify(
                    call(),
                    second,
                    false,
                    three -> {
                      came.countDown();
                      awaitRead();
                      return Verdict.KEEP;
                    }));
    assertThat(came.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(tokens.verify(call(), first, false, one -> Verdict.DROP))
        .isEqualTo(Answer.TIMED_OUT);
    assertThat(first.isGone()).isFalse();
    read.countDown();
    assertThat(takingOver.get(20, TimeUnit.SECONDS)).isEqualTo(Answer.OK);
    assertThat(verify(first)).as("by the other one's former message").isEqualTo(Answer.OK);
    assertThat(first.content()).isEqualTo("two");
    assertThat(tokens.verify(call(), first, false, two -> Verdict.DROP)).isEqualTo(Answer.ABSENT);
  }

  private Answer verify(HeldToken held) {
    return tokens.verify(call(), held, false, TokenUnderWayTest::droppingStrays);
  }

  /** A long message on a busy machine: what is held must not be idle while that takes its room. */
  @Test
  void keepsWhatItHoldsWhileSomethingElseIsUnderWayToItsNewConsumer() throws Exception {
    HeldToken held = got();
    publish("stray");
    await().until(() -> stranger.messageCount(queue) == 1);
    consuming.set(() -> deliveries.execute(this::awaitRead));
    assertThat(verify(held)).isEqualTo(Answer.TIMED_OUT);
    assertThat(idle()).doesNotContain("one");
    read.countDown();
    await().untilAsserted(() -> assertThat(verify(held)).isEqualTo(Answer.OK));
    assertThat(held.content()).isEqualTo("one");
    assertThat(idle()).doesNotContain("one");
  }

  /**
   * All messages that a stranger can get; they are given back. What was sent to a declined consumer
   * is idle as soon as the broker has closed its channel.
   */
  private List<String> idle() throws Exception {
    List<String> idle = new ArrayList<>();
    GetResponse last = null;
    for (GetResponse one = get(); one != null; one = get()) {
      idle.add(new String(one.getBody(), StandardCharsets.UTF_8));
      last = one;
    }
    if (last != null) {
      stranger.basicNack(last.getEnvelope().getDeliveryTag(), true, true);
    }
    return idle;
  }

  private GetResponse get() throws Exception {
    return stranger.basicGet(queue, false);
  }

  /**
   * A quorum queue puts what is given back behind all others. So a stranger's message in the queue
   * would come to the token's holder instead, and the token would go to another client.
   */
  @Test
  void aStrangersMessageThatAVerificationMeetsIsRemoved() throws Exception {
    publish("slot 1 epoch 1 on RabbitMQ 4");
    await().until(() -> stranger.messageCount(queue) == 1);
    TokenQueueRef recorded = new TokenQueueRef(queue, TokenQueueType.QUORUM, false);
    HeldToken held = Objects.requireNonNull(tokens.take(call(), recorded).token());
    held.approve(false);
    List<String> judged = new ArrayList<>();
    ReturnedMessageJudge judge =
        came -> {
          judged.add(came.content());
          return droppingStrays(came);
        };
    assertThat(tokens.verify(call(), held, false, judge)).isEqualTo(Answer.OK);
    publish("stray");
    await().until(() -> stranger.messageCount(queue) == 1);
    assertThat(tokens.idleBesides(call(), held)).isEqualTo(Idle.SOME);
    await().until(() -> stranger.messageCount(queue) == 0);
    assertThat(tokens.verify(call(), held, false, judge)).isEqualTo(Answer.OK);
    assertThat(judged).containsOnly("slot 1 epoch 1 on RabbitMQ 4");
  }

  /** The longer it kept it, the more likely that one would be called lost. */
  @Test
  void doesNotKeepAnothersTokenWhileNothingIsProven() throws Exception {
    HeldToken held = got();
    publish("another's");
    await().until(() -> stranger.messageCount(queue) == 1);
    consuming.set(() -> deliveries.execute(this::awaitRead));
    assertThat(verify(held)).isEqualTo(Answer.TIMED_OUT);
    // This process has not looked at it yet.
    GetResponse free = await().until(() -> stranger.basicGet(queue, false), Objects::nonNull);
    assertThat(new String(free.getBody(), StandardCharsets.UTF_8)).isEqualTo("another's");
    assertThat(held.content()).isEqualTo("one");
  }

  /**
   * Another client that takes its own token over may have it for a moment. On a machine that stalls
   * a short call lasts as long as a long one, and gives the token up as rightly.
   */
  @Test
  void aShortCallDoesNotGiveUpWhatALongOneWouldAwait() throws Exception {
    long begin = System.nanoTime();
    Answer answer = verifiedByAShortCallWhileAnotherHasIt();
    for (int tries = 1; tries < 5 && answer == Answer.ABSENT; tries++) {
      assertThat(Duration.ofNanos(System.nanoTime() - begin))
          .isGreaterThan(Duration.ofNanos(TokenArrivals.LONGEST_ELSEWHERE));
      useAnotherQueue();
      begin = System.nanoTime();
      answer = verifiedByAShortCallWhileAnotherHasIt();
    }
    assertThat(answer).isEqualTo(Answer.TIMED_OUT);
  }

  private Answer verifiedByAShortCallWhileAnotherHasIt() throws Exception {
    HeldToken held = got();
    assertThat(verify(held)).isEqualTo(Answer.OK);
    String tag =
        stranger.basicConsume(
            queue, false, Map.of("x-priority", 2_000_000), (t, message) -> {}, t -> {});
    Call brief = Call.on(LockId.tokenSemaphore("s"), Duration.ofMillis(300), Ticker.SYSTEM);
    Answer answer = tokens.verify(brief, held, false, TokenUnderWayTest::droppingStrays);
    assertThat(held.isGone()).isEqualTo(answer == Answer.ABSENT);
    if (held.isGone()) {
      tokens.release(held);
    }
    stranger.basicCancel(tag);
    stranger.basicRecover(true);
    if (!held.isGone()) {
      await().untilAsserted(() -> assertThat(verify(held)).isEqualTo(Answer.OK));
    }
    return answer;
  }

  /** A consume that is answered too late leaves no consumer that would take the token. */
  @Test
  void aConsumerThatWasNotAnsweredInTimeEnds() throws Exception {
    HeldToken held = got();
    consuming.set(() -> pause(Duration.ofSeconds(8)));
    Call brief = Call.on(LockId.tokenSemaphore("s"), Duration.ofSeconds(1), Ticker.SYSTEM);
    assertThat(tokens.verify(brief, held, false, TokenUnderWayTest::droppingStrays))
        .isEqualTo(Answer.TIMED_OUT);
    assertThat(held.isHere()).isTrue();
    tokens.release(held);
    GetResponse free = await().until(() -> stranger.basicGet(queue, false), Objects::nonNull);
    assertThat(new String(free.getBody(), StandardCharsets.UTF_8)).isEqualTo("one");
  }

  private static void pause(Duration time) {
    try {
      TimeUnit.MILLISECONDS.sleep(time.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** For half a second. A machine may stall for as long, so there are several tries. */
  @Test
  void waitsForWhatIsUnderWay() throws Exception {
    Idle seen = lookWhileItIsUnderWay();
    for (int tries = 1; tries < 5 && seen != Idle.SOME; tries++) {
      useAnotherQueue();
      seen = lookWhileItIsUnderWay();
    }
    assertThat(seen).isEqualTo(Idle.SOME);
  }

  /** Nothing is seen of the token before the look has gone on for a while. */
  private Idle lookWhileItIsUnderWay() throws Exception {
    HeldToken held = got();
    assertThat(verify(held)).isEqualTo(Answer.OK);
    CountDownLatch seen = new CountDownLatch(1);
    deliveries.execute(() -> awaitEnd(seen));
    Objects.requireNonNull(held.giveBack(held.receiver())).message().putBack();
    await().until(() -> held.receiver().loan().isReceiving());
    long begin = System.nanoTime();
    Future<Idle> look = background.submit(() -> TokenArrivals.lastLook(call(), held));
    try {
      Idle early = look.get(100, TimeUnit.MILLISECONDS);
      // It has waited for nothing. That is right only after half a second.
      assertThat(Duration.ofNanos(System.nanoTime() - begin))
          .isGreaterThan(Duration.ofNanos(TokenArrivals.LONGEST_IN_HERE));
      assertThat(early).isNotEqualTo(Idle.SOME);
      return early;
    } catch (TimeoutException waits) {
      seen.countDown();
      return look.get(20, TimeUnit.SECONDS);
    } finally {
      seen.countDown();
    }
  }

  /** It came back, and a busy machine has not looked at it yet: it is not lost. */
  @Test
  void isNotLostWhileItIsUnderWay() throws Exception {
    HeldToken held = got();
    assertThat(verify(held)).isEqualTo(Answer.OK);
    deliveries.execute(this::awaitRead);
    assertThat(verify(held)).isEqualTo(Answer.TIMED_OUT);
    assertThat(held.isGone()).isFalse();
    read.countDown();
    await().untilAsserted(() -> assertThat(verify(held)).isEqualTo(Answer.OK));
  }

  /** A message of any length may be on its way in its place. */
  @Test
  void isInDoubtIfItDoesNotComeBackSoon() throws Exception {
    HeldToken held = got();
    assertThat(verify(held)).isEqualTo(Answer.OK);
    deliveries.execute(this::awaitRead);
    TokenHold hold = holdOf(held);
    assertThat(hold.isUnderWay()).isFalse();
    long given = System.nanoTime();
    Objects.requireNonNull(held.giveBack(held.receiver())).message().putBack();
    assertThat(hold.isUnderWay()).isTrue();
    await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(held::isDoubtful);
    assertThat(System.nanoTime() - given).isGreaterThan(TokenArrivals.SOON);
    read.countDown();
    await().until(held::isHere);
    assertThat(held.isDoubtful()).isFalse();
    assertThat(hold.isUnderWay()).isFalse();
  }

  private static TokenHold holdOf(HeldToken held) {
    return new TokenHold(
        LockId.tokenSemaphore("s"),
        held.queueRef(),
        false,
        false,
        false,
        held,
        new TokenHold.Received(
            Optional.empty(), 0, Optional.empty(), new ConsumerTimeoutWarning(0)));
  }

  private void awaitRead() {
    awaitEnd(read);
  }

  private static void awaitEnd(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Another consumer's end shows that the broker has ended all of them. */
  @Test
  void aTryWhoseQueueIsDeletedMeanwhileFindsNoQueueInsteadOfABusyOne() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    stranger.basicConsume(queue, false, (tag, message) -> {}, tag -> ended.countDown());
    consuming.set(
        () -> {
          try {
            strangers.createChannel().queueDelete(queue);
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    assertThat(tokens.takeByConsumer(call(), any()).outcome()).isEqualTo(Take.Outcome.NO_QUEUE);
  }
}
