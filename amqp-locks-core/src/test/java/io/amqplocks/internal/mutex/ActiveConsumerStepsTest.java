package io.amqplocks.internal.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Envelope;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannel;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** Single steps of a consumer of a mutex's queue, in an order that chance rarely brings about. */
@BrokerTest(everyLine = true)
class ActiveConsumerStepsTest {

  private static final LockId LOCK = LockId.mutex("l");
  private static final Duration HEARTBEAT = Duration.ofSeconds(10);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private ClockedClient other;
  private Connection strangers;
  private Channel stranger;
  private String queue;

  @BeforeEach
  void open(Broker broker) throws Exception {
    client = new ClockedClient(broker, HEARTBEAT);
    other = new ClockedClient(broker, HEARTBEAT);
    strangers = fixture.stranger();
    stranger = strangers.createChannel();
    queue = fixture.prefix() + "mutex";
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    other.close();
    strangers.abort(1000);
    threads.shutdownNow();
  }

  private static Call call() {
    return Call.on(LOCK, Duration.ofSeconds(20), Ticker.SYSTEM);
  }

  private static ActiveConsumers of(ClockedClient whose) {
    return ActiveConsumers.of(whose.session());
  }

  private static HoldStatus status(ClockedClient whose, ActiveConsumer consumer) {
    return of(whose).verify(call(), consumer);
  }

  private ActiveConsumer taken(ClockedClient by) {
    return of(by).take(call(), queue).orElseThrow();
  }

  /** One that stands by, or would hold if there were a message. */
  private ActiveConsumer waiting(ClockedClient whose, Runnable arrived) {
    return of(whose).consume(call(), queue, arrived);
  }

  private void awaitFree() {
    await().until(() -> stranger.consumerCount(queue) == 0 && stranger.messageCount(queue) > 0);
  }

  /** Its message, which is not answered yet. */
  private static Delivery message(ActiveConsumer holder) {
    return Objects.requireNonNull(holder.requeue());
  }

  /** The caller of a method that checks its lock at the end would get its result. */
  @Test
  void isLostAsSoonAsItsMessageIsNot() {
    ActiveConsumer holder = taken(client);
    List<HoldStatus> found = new CopyOnWriteArrayList<>();
    List<String> why = new CopyOnWriteArrayList<>();
    LossReason reason = new LossReason(Cause.REVOKED, "by the test");
    try (AtLogOf unused =
        new AtLogOf(
            ActiveConsumer.class,
            () -> {
              found.add(status(client, holder));
              threads.execute(() -> why.add(holder.loss().detail()));
            })) {
      holder.gone(reason);
    }
    assertThat(found).containsExactly(HoldStatus.GONE);
    await().until(() -> !why.isEmpty());
    assertThat(why).containsExactly("by the test");
  }

  /** Acts while a class says something at the level DEBUG, in the thread that says it. */
  private static final class AtLogOf extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger;
    private final Level before;
    private final Thread saying = Thread.currentThread();
    private final Runnable action;

    AtLogOf(Class<?> which, Runnable action) {
      this.action = action;
      logger = (Logger) LoggerFactory.getLogger(which);
      before = logger.getLevel();
      logger.setLevel(Level.DEBUG);
      start();
      logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      if (Thread.currentThread().equals(saying)) {
        action.run();
      }
    }

    @Override
    public void close() {
      logger.detachAppender(this);
      logger.setLevel(before);
      stop();
    }
  }

  /** The broker would send it to the consumer that releases, and to the next one only then. */
  @Test
  void theConsumerEndsBeforeItsMessageGoesBack() {
    ActiveConsumer first = taken(client);
    of(client).release(first);
    awaitFree();
    ActiveConsumer next = taken(client);
    assertThat(next.channel().getChannel()).isSameAs(first.channel().getChannel());
    assertThat(message(next).tag()).as("second message of the channel").isEqualTo(2);
  }

  /** The channel may be another consumer's by then. */
  @Test
  void aSecondReleaseHasNoEffect() {
    ActiveConsumer first = taken(client);
    of(client).release(first);
    ActiveConsumer next = of(client).take(call(), queue + "-2").orElseThrow();
    assertThat(next.channel().getChannel()).isSameAs(first.channel().getChannel());
    of(client).release(first);
    assertThat(status(client, next)).isEqualTo(HoldStatus.OURS);
  }

  @Test
  void aMessageThatArrivesAfterTheCancelGoesBack() throws Exception {
    ActiveConsumer holder = taken(client);
    Delivery message = message(holder);
    holder.cancel();
    holder.channel().cancel(holder.tag());
    holder.delivered(message);
    awaitFree();
  }

  /** By a nack it would be sent here again, and again. */
  @Test
  void aSecondMessageIsNotAnswered() throws Exception {
    ActiveConsumer holder = taken(client);
    Channel channel = holder.channel().getChannel();
    holder.delivered(new Delivery(channel, 99, "", "", 0));
    assertThat(holder.isGone()).isTrue();
    // The broker closes the channel of an answer to a message that it never sent.
    channel.basicQos(1);
    assertThat(channel.isOpen()).isTrue();
  }

  /** Its queue's process was another one, for which the old delivery tags mean other messages. */
  @Test
  void theChannelOfALostConsumerIsNotUsedAgain() {
    ActiveConsumer lost = taken(client);
    Channel channel = lost.channel().getChannel();
    fixture.broker().faults().deleteQueue(queue);
    await().until(lost::isGone);
    of(client).release(lost);
    assertThat(taken(client).channel().getChannel()).isNotSameAs(channel);
    await().until(() -> !channel.isOpen());
  }

  /** As the broker does when an acknowledgement is overdue. */
  @Test
  void aConsumerIsLostWithItsChannel() throws Exception {
    ActiveConsumer holder = taken(client);
    holder.channel().getChannel().basicNack(99, false, true);
    await().until(holder::isGone);
    assertThat(holder.loss().toString()).contains("closed the channel");
    assertThat(status(client, holder)).isEqualTo(HoldStatus.GONE);
    of(client).release(holder);
    await().until(() -> of(other).take(call(), queue).isPresent());
  }

  /** On 3.x only if it asks for that: else some of them would be active again, without a word. */
  @Test
  void allConsumersAreGoneWhenTheProcessOfTheQueueCrashed() {
    ActiveConsumer holder = taken(client);
    ActiveConsumer waiting = waiting(other, () -> {});
    fixture.broker().faults().crashQueue(queue);
    await().until(() -> holder.isGone() && waiting.isGone());
    of(client).release(holder);
    of(other).release(waiting);
    assertThat(status(client, taken(client))).isEqualTo(HoldStatus.OURS);
  }

  @Test
  void aQueueThatDoesNotAnswerProvesNothing() {
    ActiveConsumer holder = taken(client);
    fixture.broker().faults().suspendQueue(queue);
    try {
      Call brief = Call.on(LOCK, Duration.ofSeconds(1), Ticker.SYSTEM);
      assertThatThrownBy(() -> of(client).verify(brief, holder))
          .isInstanceOf(LockException.Unanswered.class);
      assertThat(holder.isGone()).isFalse();
    } finally {
      fixture.broker().faults().resumeQueue(queue);
    }
    await()
        .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
        .until(() -> status(client, holder) == HoldStatus.OURS);
  }

  /** None of them is the only consumer, and none knows that there is no holder. */
  @Test
  void oneOfManyWaitersReplacesALostMessage() throws Exception {
    ActiveConsumer holder = taken(client);
    ActiveConsumer first = waiting(other, () -> {});
    ActiveConsumer second = waiting(client, () -> {});
    message(holder).remove();
    of(client).release(holder);
    await().until(() -> stranger.consumerCount(queue) == 2);
    of(client).tend(call(), second);
    await().until(first::isActive);
    assertThat(second.isActive()).isFalse();
  }

  /** The client has read a message that its consumer was not given yet. */
  @Test
  void aLookEndsAfterAMessageThatTheClientHandsOn() throws Exception {
    ActiveConsumer holder = taken(client);
    ActiveConsumer waiting = waiting(other, () -> {});
    ConsumerChannel channel = waiting.channel().channel();
    ConsumerChannel.ARRIVALS.consumedMessage(channel.getChannel(), 99, waiting.tag());
    Future<Boolean> looking =
        threads.submit(
            () -> {
              of(other).tend(call(), waiting);
              return waiting.isActive();
            });
    await().during(Duration.ofMillis(500)).until(() -> !looking.isDone());
    channel.handleDelivery(
        waiting.tag(), new Envelope(99, false, "", queue), new BasicProperties(), new byte[0]);
    assertThat(looking.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(status(client, holder)).isEqualTo(HoldStatus.OURS);
  }

  @Test
  void aWaiterIsWokenWhenNoMessageWillCome() {
    AtomicInteger woken = new AtomicInteger();
    ActiveConsumer holder = taken(client);
    waiting(other, woken::incrementAndGet);
    fixture.broker().faults().deleteQueue(queue);
    await().untilAsserted(() -> assertThat(woken).hasValue(1));
    of(client).release(holder);
    taken(client);
    of(other).release(waiting(other, woken::incrementAndGet));
    assertThat(woken).hasValue(2);
  }

  @Test
  void aWaiterIsWokenWhenTheSessionEnds() throws Exception {
    taken(client);
    AtomicInteger woken = new AtomicInteger();
    Subscription waiting =
        new MutexClaim(queue, other.registry())
            .subscribe(other.call(LOCK), other.session(), woken::incrementAndGet);
    other.session().connection().close();
    await().until(() -> woken.get() > 0);
    assertThatThrownBy(() -> waiting.attempt(other.call(LOCK)))
        .isInstanceOf(LockException.Unreachable.class);
    waiting.close();
  }

  /** The broker sends messages to a client that it does not hear. */
  @Test
  void aLeaseThatWasSentIsAsOldAsTheLastReply() throws Exception {
    ActiveConsumer holder = taken(client);
    AtomicInteger woken = new AtomicInteger();
    try (Subscription waiting =
        new MutexClaim(queue, other.registry())
            .subscribe(other.call(LOCK), other.session(), woken::incrementAndGet)) {
      assertThat(waiting.attempt(other.call(LOCK))).isEmpty();
      other.pass(HEARTBEAT);
      of(client).release(holder);
      await().until(() -> woken.get() > 0);
      HeldLease lease = waiting.attempt(other.call(LOCK)).orElseThrow();
      assertThat(lease.state()).isEqualTo(LeaseState.HELD);
      // 1.75 heartbeats after the reply to the consume, and less than one after the message.
      other.pass(HEARTBEAT.multipliedBy(4).dividedBy(5));
      assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      lease.close();
    }
  }

  /** Its next attempt would be a second lease of the same hold. */
  @Test
  void aSubscriptionIsUsedUpByItsMessage() {
    try (Subscription waiting =
        new MutexClaim(queue, client.registry())
            .subscribe(client.call(LOCK), client.session(), () -> {})) {
      HeldLease lease =
          await()
              .until(() -> waiting.attempt(client.call(LOCK)), each -> each.isPresent())
              .orElseThrow();
      assertThat(waiting.isOver()).isTrue();
      waiting.close();
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      assertThat(of(other).take(call(), queue)).isEmpty();
      lease.close();
    }
    awaitFree();
  }
}
