package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * For how long the broker has not heard from us, under a clock that the test turns; and what a
 * caller learns that gets no reply.
 */
@Tag("trap-5")
@BrokerTest
class RpcChannelPoolTest {

  private static final Duration UNDER_WAY = Duration.ofSeconds(4);

  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
  private final ExecutorService background = Executors.newSingleThreadExecutor();

  /** Runs when the answer is there, so the time that it took is over by then. */
  private final Reading answerTakesLong = (channel, answer) -> pass(UNDER_WAY);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private RpcChannelPool rpc;
  private Call call;

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("questions");
    rpc = new RpcChannelPool(connection, background, clock::get);
    call = Call.on(LockId.mutex("m"), Duration.ofMinutes(1), clock::get);
  }

  @AfterEach
  void close() {
    connection.abort(1000);
    background.shutdownNow();
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  private Duration silence() {
    return Duration.ofNanos(rpc.silentNanos());
  }

  @Test
  void silenceCountsFromTheRequestAndNotFromItsAnswer() {
    pass(Duration.ofSeconds(10));
    assertThat(silence()).isEqualTo(Duration.ofSeconds(10));
    assertThat(rpc.ask(call, "look for a queue", QueueArguments.exclusive(""), answerTakesLong))
        .isEqualTo(Answer.OK);
    assertThat(silence()).isEqualTo(UNDER_WAY);
  }

  @Test
  void andSoItDoesOnTheChannelsThatCarryConsumers() {
    ConsumerChannelPool deliveries = new ConsumerChannelPool(connection, rpc, background);
    BorrowedChannel channel = deliveries.borrow(call, "consume", "");
    pass(Duration.ofSeconds(10));
    assertThat(
            deliveries.ask(
                call, "look for a queue", channel, QueueArguments.exclusive(""), answerTakesLong))
        .isEqualTo(Answer.OK);
    assertThat(silence()).isEqualTo(UNDER_WAY);
  }

  /** It is an answer all the same: the broker heard us. */
  @Test
  void aRefusalEndsTheSilenceToo() {
    pass(Duration.ofSeconds(10));
    assertThat(rpc.ask(call, "look for a queue", QueueArguments.passive("no such queue")))
        .isEqualTo(Answer.ABSENT);
    assertThat(silence()).isZero();
  }

  /** Two answers may overtake each other. */
  @Test
  void anOlderRequestThatIsAnsweredLaterDoesNotLengthenTheSilence() {
    long before = clock.get();
    pass(Duration.ofSeconds(3));
    Answer unused = rpc.answered(clock.get(), Answer.OK);
    unused = rpc.answered(before, Answer.OK);
    assertThat(silence()).isZero();
  }

  /** A caller that handles no late reply gets an error for a missing one. */
  @Test
  void aMissingReplyIsAnErrorAtOnceIfAnEarlierOneIsOverdue(Broker broker) throws Exception {
    String queue = fixture.prefix() + "hangs";
    try (Channel channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, null);
    }
    Call hasty = Call.on(LockId.mutex("m"), Duration.ofSeconds(2), clock::get);
    broker.faults().suspendQueue(queue);
    try {
      assertThatThrownBy(() -> rpc.look(hasty, queue))
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("look for queue " + queue);
      assertThatThrownBy(() -> rpc.lookUnlessOverdue(hasty, queue))
          .isInstanceOf(LockException.Unanswered.class);
      long start = System.nanoTime();
      assertThatThrownBy(() -> rpc.lookUnlessOverdue(call, queue))
          .isInstanceOf(LockException.Unanswered.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    } finally {
      broker.faults().resumeQueue(queue);
    }
    await().untilAsserted(() -> assertThat(rpc.lookUnlessOverdue(call, queue).exists()).isTrue());
  }
}
