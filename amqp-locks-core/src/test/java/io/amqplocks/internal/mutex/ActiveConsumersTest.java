package io.amqplocks.internal.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.mutex.ActiveConsumer.Phase;
import io.amqplocks.internal.mutex.ActiveConsumer.State;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a consumer of a mutex's queue knows of itself, and what the broker says of it when asked.
 */
@BrokerTest(everyLine = true)
class ActiveConsumersTest {

  private static final LockId LOCK = LockId.mutex("l");

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private ClockedClient other;
  private Connection strangers;
  private Channel stranger;
  private String queue;

  @BeforeEach
  void open(Broker broker) throws Exception {
    client = new ClockedClient(broker, Duration.ofSeconds(10));
    other = new ClockedClient(broker, Duration.ofSeconds(10));
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    queue = fixture.prefix() + "mutex";
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    other.close();
    strangers.abort(1000);
  }

  private static Call call() {
    return Call.on(LOCK, Duration.ofSeconds(5), Ticker.SYSTEM);
  }

  private static ActiveConsumers of(ClockedClient whose) {
    return ActiveConsumers.of(whose.session());
  }

  private static HoldStatus status(ClockedClient whose, ActiveConsumer consumer) {
    return of(whose).verify(call(), consumer);
  }

  /** A release is not confirmed. */
  private void awaitFree() {
    await()
        .pollInterval(Duration.ofMillis(1))
        .until(() -> stranger.consumerCount(queue) == 0 && stranger.messageCount(queue) > 0);
  }

  private ActiveConsumer taken(ClockedClient by) {
    return of(by).take(call(), queue).orElseThrow();
  }

  @Test
  void aMessageIsTakenOnceAndOnlyWhileItIsExpected() {
    Delivery one = new Delivery(stranger, 1, "", "", 0);
    Delivery two = new Delivery(stranger, 2, "", "", 0);
    State first = State.first();
    State active = first.received(one);
    assertThat(active).isEqualTo(new State(Phase.ACTIVE, one, first.arrival()));
    assertThat(active.received(two)).isEqualTo(active);
    assertThat(first.requeued()).isEqualTo(first);
    State requeued = active.requeued();
    assertThat(requeued.phase()).isEqualTo(Phase.REQUEUED);
    assertThat(requeued.message()).isNull();
    assertThat(requeued.arrival()).as("of the next message").isNotSameAs(first.arrival());
    assertThat(requeued.requeued()).isEqualTo(requeued);
    assertThat(requeued.received(two)).isEqualTo(new State(Phase.ACTIVE, two, requeued.arrival()));
    for (Phase end : List.of(Phase.CANCELLED, Phase.GONE)) {
      State ended = active.ended(end);
      assertThat(ended).isEqualTo(new State(end, one, first.arrival()));
      assertThat(ended.ended(Phase.GONE)).isEqualTo(ended);
      assertThat(ended.received(two)).isEqualTo(ended);
      assertThat(ended.requeued()).isEqualTo(ended);
    }
  }

  /** Finds queues until the node that it asks has lost theirs, as with Mnesia after a break. */
  private record LosingQueues(QueueFinding declared, AtomicBoolean lost) implements QueueFinding {

    @Override
    public QueueState find(Call call, String queue) {
      if (lost.get()) {
        AMQP.Channel.Close answer =
            new AMQP.Channel.Close.Builder()
                .replyCode(AMQP.NOT_FOUND)
                .replyText(
                    "NOT_FOUND - home node 'rabbit@a' of durable queue is down or inaccessible")
                .build();
        throw new LockException.Unexpected(
            "declare", new ShutdownSignalException(false, false, answer, null));
      }
      return declared.find(call, queue);
    }

    @Override
    public boolean provesKind() {
      return declared.provesKind();
    }

    @Override
    public void missing(Call call) {
      declared.missing(call);
    }

    @Override
    public LockException deleted(Call call, String queue, int times) {
      return declared.deleted(call, queue, times);
    }

    @Override
    public String remedy() {
      return declared.remedy();
    }
  }

  @Test
  void aNodeThatDoesNotReachTheQueueEndsNoConsumer() {
    AtomicBoolean lost = new AtomicBoolean();
    Session session = client.session();
    ActiveConsumers consumers =
        new ActiveConsumers(
            session,
            "test-",
            new LosingQueues(new DeclaredQueues(session.broker(), session.side()), lost));
    ActiveConsumer holder = taken(other);
    ActiveConsumer waiting = consumers.consume(call(), queue, () -> {});
    lost.set(true);
    consumers.proveWhileWaiting(call(), waiting);
    assertThat(waiting.isGone()).as("it stays in line").isFalse();
    of(other).release(holder);
    assertThat(waiting.await(Duration.ofSeconds(30).toNanos())).isTrue();
    assertThatThrownBy(() -> consumers.isSingle(call(), waiting))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining(queue);
    assertThat(waiting.isActive()).isTrue();
    lost.set(false);
    assertThat(consumers.isSingle(call(), waiting)).isTrue();
    lost.set(true);
    assertThat(consumers.isSingle(call(), waiting)).as("it is proven by now").isTrue();
    consumers.release(waiting);
  }

  /** Every message that the queue sends a consumer is there before the answer to a look. */
  @Test
  void whoIsNotSentAMessageLooksInVain() throws Exception {
    ActiveConsumer holder = taken(client);
    for (int i = 0; i < 300; i++) {
      // One of the two is active, whoever comes first, and nobody else ever is.
      Optional<ActiveConsumer> busy = of(other).take(call(), queue);
      assertThat(busy).isEmpty();
      of(client).release(holder);
      awaitFree();
      ActiveConsumer waiting = of(other).consume(call(), queue, () -> {});
      of(other).tend(call(), waiting);
      assertThat(waiting.isActive()).as("of a free mutex, round %d", i).isTrue();
      of(other).release(waiting);
      awaitFree();
      holder = taken(client);
    }
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
  }

  /** The broker ended the consumer and this side was not told, as after a break between nodes. */
  @Test
  void isGoneWhereAnotherConsumerIsActive() throws Exception {
    ActiveConsumer forgotten = taken(client);
    ActiveConsumer next = of(other).consume(call(), queue, () -> {});
    forgotten.channel().cancel(forgotten.tag());
    // Its message goes to the next one when this one gives it back to be verified.
    HoldStatus first = status(client, forgotten);
    assertThat(first).isNotEqualTo(HoldStatus.OURS);
    await().until(next::isActive);
    assertThat(status(other, next)).isEqualTo(HoldStatus.OURS);
    assertThat(first == HoldStatus.GONE ? first : status(client, forgotten))
        .isEqualTo(HoldStatus.GONE);
    assertThat(forgotten.loss().toString()).contains("another active consumer");
    of(client).release(forgotten);
    assertThat(status(other, next)).isEqualTo(HoldStatus.OURS);
  }

  @Test
  void aSecondMessageShowsThatTheFirstWasTakenBack() throws Exception {
    ActiveConsumer holder = taken(client);
    CountDownLatch told = new CountDownLatch(1);
    holder.whenGone(told::countDown);
    holder.delivered(new Delivery(holder.channel().getChannel(), 99, "", "", 0));
    assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(holder.loss().toString()).contains("second message");
    assertThat(status(client, holder)).isEqualTo(HoldStatus.GONE);
    of(client).release(holder);
    await().until(() -> of(other).take(call(), queue).isPresent());
  }

  /** By a message that is not the first one's: it is replaced while it is under way. */
  @Test
  void aMessageThatIsLostWhileItIsVerifiedIsReplaced() throws Exception {
    ActiveConsumer holder = taken(client);
    Delivery message = Objects.requireNonNull(holder.requeue());
    // As if the broker had dropped it.
    message.remove();
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
    assertThat(of(other).take(call(), queue)).isEmpty();
    of(client).release(holder);
    await().until(() -> of(other).take(call(), queue).isPresent());
  }

  @Test
  void aWaitersQueueGetsAMessageThatItLost() throws Exception {
    ActiveConsumer holder = taken(client);
    ActiveConsumer waiting = of(other).consume(call(), queue, () -> {});
    Delivery message = Objects.requireNonNull(holder.requeue());
    message.remove();
    of(client).release(holder);
    assertThat(waiting.isActive()).isFalse();
    of(other).tend(call(), waiting);
    assertThat(waiting.await(Duration.ofSeconds(10).toNanos())).isTrue();
    assertThat(waiting.isActive()).isTrue();
  }

  /** A stranger that got the idle message has nothing: it is no consumer. */
  @Test
  void aStrangersGetDoesNotHold() throws Exception {
    of(client).release(taken(client));
    List<GetResponse> got = new ArrayList<>();
    await()
        .until(
            () -> {
              GetResponse response = stranger.basicGet(queue, false);
              if (response != null) {
                got.add(response);
              }
              return !got.isEmpty();
            });
    ActiveConsumer holder = taken(client);
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
    stranger.basicNack(got.get(0).getEnvelope().getDeliveryTag(), false, true);
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
  }

  /** A queue without a single active consumer would serve many. */
  @Test
  void aQueueThatWasReplacedIsCheckedAgain() throws Exception {
    ActiveConsumer holder = taken(client);
    fixture.broker().faults().deleteQueue(queue);
    await().until(holder::isGone);
    of(client).release(holder);
    stranger.queueDeclare(queue, true, false, false, null);
    fixture.willStay(queue);
    assertThatThrownBy(() -> of(client).take(call(), queue))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining(queue);
  }

  /** Whoever tries again within a second counts the consumers only, and checks nothing else. */
  @Test
  void aQueueThatWasReplacedIsCheckedASecondAfterItWasBusy() throws Exception {
    AtomicLong now = new AtomicLong();
    Supplier<Call> call = () -> Call.on(LOCK, Duration.ofSeconds(5), now::get);
    ActiveConsumer holder = taken(client);
    assertThat(of(other).take(call.get(), queue)).isEmpty();
    fixture.broker().faults().deleteQueue(queue);
    await().until(holder::isGone);
    of(client).release(holder);
    stranger.queueDeclare(queue, true, false, false, null);
    fixture.willStay(queue);
    String unused = stranger.basicConsume(queue, new DefaultConsumer(stranger));
    now.addAndGet(Duration.ofMillis(999).toNanos());
    assertThat(of(other).take(call.get(), queue)).isEmpty();
    now.addAndGet(Duration.ofMillis(1).toNanos());
    assertThatThrownBy(() -> of(other).take(call.get(), queue))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining(queue);
  }

  @Test
  void aFreeMutexIsAcquiredThoughItWasBusyAMomentAgo() {
    Call soon = Call.on(LOCK, Duration.ofSeconds(5), () -> 0);
    ActiveConsumer holder = taken(client);
    assertThat(of(other).take(soon, queue)).isEmpty();
    of(client).release(holder);
    awaitFree();
    of(other).release(of(other).take(soon, queue).orElseThrow());
  }

  /** The channel that is asked is closed by that. */
  @Test
  void aQueueThatIsGoneIsDeclaredAgainThoughItWasBusyAMomentAgo() {
    Call soon = Call.on(LOCK, Duration.ofSeconds(5), () -> 0);
    ActiveConsumer holder = taken(client);
    assertThat(of(other).take(soon, queue)).isEmpty();
    fixture.broker().faults().deleteQueue(queue);
    await().until(holder::isGone);
    of(client).release(holder);
    ActiveConsumer next = of(other).take(soon, queue).orElseThrow();
    of(other).release(next);
  }

  /**
   * On 3.10 the next active consumer is sent nothing until the queue has something else to do. If
   * the queue took another message then, its process crashed, and with it whole connections (541).
   */
  @Test
  @Tag("trap-17")
  void aMessageBetweenTheTwoStepsOfAReleaseHarmsNobody() throws Exception {
    stranger.confirmSelect();
    ActiveConsumer holder = taken(client);
    ActiveConsumer waiting = of(other).consume(call(), queue, () -> {});
    stranger.basicPublish("", queue, null, new byte[0]);
    await().until(() -> stranger.messageCount(queue) == 1);
    holder.channel().cancel(holder.tag());
    await().until(() -> stranger.consumerCount(queue) == 1);
    stranger.basicPublish("", queue, null, new byte[0]);
    boolean unused = stranger.waitForConfirms(10_000);
    of(client).release(holder);
    await().until(() -> waiting.isActive() || waiting.isGone());
    assertThat(waiting.isGone()).isFalse();
    assertThat(status(other, waiting)).isEqualTo(HoldStatus.OURS);
  }

  /** It proves nothing of the time after that verification, so the message is requeued again. */
  @Test
  void theLateAnswerToAVerificationIsNotTakenForThatToTheNext() throws Exception {
    ActiveConsumer holder = taken(client);
    Delivery first = Objects.requireNonNull(holder.requeue());
    fixture.broker().faults().suspendQueue(queue);
    first.putBack();
    CompletableFuture<HoldStatus> next =
        CompletableFuture.supplyAsync(() -> status(client, holder));
    fixture.broker().faults().resumeQueue(queue);
    assertThat(next.get(30, TimeUnit.SECONDS)).isEqualTo(HoldStatus.OURS);
    assertThat(Objects.requireNonNull(holder.requeue()).tag())
        .as("of the third message: two were requeued")
        .isEqualTo(first.tag() + 2);
  }

  /** A channel is used for both kinds, and a late message is told by the tag of its consumer. */
  @Test
  void noTagIsUsedByTwoConsumersOfASession() {
    String enabled = fixture.prefix() + "persistent";
    fixture.willStay(enabled);
    client.session().rpc().ask(call(), "declare", QueueArguments.persistentMutex(enabled));
    ActiveConsumers both = ActiveConsumers.ofEnabled(client.session());
    Set<String> tags = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      ActiveConsumer one = of(client).consume(call(), queue, () -> {});
      ActiveConsumer other = both.consume(call(), enabled, () -> {});
      assertThat(tags.add(one.tag()) && tags.add(other.tag())).as(one.tag()).isTrue();
      of(client).release(one);
      both.release(other);
    }
  }

  /**
   * It replies to looks before it sees the message that was requeued, as amid a stranger's flood.
   */
  @Tag("trap-26")
  @Test
  void aBusyQueueIsNoSignOfAnotherConsumer() throws Exception {
    ActiveConsumer holder = taken(client);
    stranger.basicPublish("", queue, null, new byte[0]);
    await().until(() -> stranger.messageCount(queue) == 1);
    fixture.broker().faults().keepQueueBusy(queue, Duration.ofMillis(600));
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
  }

  /** After a break between nodes, a waiter may not be told that its consumer was ended. */
  @Test
  void aWaiterWhoseConsumerWasEndedUntoldFindsOut() throws Exception {
    ActiveConsumer holder = taken(client);
    ActiveConsumer forgotten = of(other).consume(call(), queue, () -> {});
    forgotten.channel().cancel(forgotten.tag());
    await().until(() -> stranger.consumerCount(queue) == 1);
    of(client).release(holder);
    awaitFree();
    of(other).tend(call(), forgotten);
    assertThat(forgotten.isGone()).isTrue();
    of(other).release(forgotten);
    assertThat(status(other, taken(other))).isEqualTo(HoldStatus.OURS);
  }
}
