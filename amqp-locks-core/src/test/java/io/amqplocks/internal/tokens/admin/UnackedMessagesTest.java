package io.amqplocks.internal.tokens.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The messages that an administrator has in hand, and what it does with a queue that hangs. */
@Tag("trap-6")
@BrokerTest(everyLine = true)
class UnackedMessagesTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(20);

  /** A wait for an answer takes a call timeout. */
  private static final Duration NO_WAIT = Duration.ofSeconds(15);

  private static final long LONG = Duration.ofSeconds(30).toNanos();

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(30), CALL_TIMEOUT);
    queue = fixture.prefix() + "hangs";
  }

  @AfterEach
  void close() {
    client.close();
  }

  private Call call() {
    return client.call(ID);
  }

  private TokenAdminConnection connect() {
    return TokenAdminConnection.open(call(), client.session());
  }

  @Test
  void aGetThatIsOverdueIsNotWaitedForAgain(Broker broker) {
    anOverdueAnswerIsNotWaitedForAgain(broker, (messages, call) -> messages.take(call, 1));
  }

  @Test
  void aConsumerThatIsOverdueIsNotWaitedForAgain(Broker broker) {
    anOverdueAnswerIsNotWaitedForAgain(broker, (messages, call) -> messages.receive(call, 1));
  }

  private UnackedMessages withMessages(
      TokenAdminConnection connection, TokenQueueType type, List<String> texts) {
    connection.declareTokens(call(), queue, type);
    connection.publish(call(), queue, texts);
    return connection.unacked(call(), queue, type);
  }

  /** However they were taken, and though others wait for them. */
  @ParameterizedTest
  @EnumSource
  void allComeAgainBeforeTheyComeToOthers(TokenQueueType type) throws Exception {
    try (TokenAdminConnection connection = connect();
        UnackedMessages messages = withMessages(connection, type, List.of("1", "2", "2"));
        Connection stranger = fixture.stranger()) {
      List<Message> taken = new ArrayList<>(messages.take(call(), 2));
      messages.receive(call(), 0);
      messages.next(call(), LONG).ifPresent(taken::add);
      assertThat(taken).hasSize(3);
      List<String> theirs = new CopyOnWriteArrayList<>();
      stranger
          .createChannel()
          .basicConsume(
              queue, false, (tag, got) -> theirs.add(new String(got.getBody(), UTF_8)), tag -> {});
      List<Message> again = messages.again(call());
      assertThat(again).extracting(Message::text).containsExactlyInAnyOrder("1", "2", "2");
      assertThat(theirs).isEmpty();
      // The numbers are those of the new channel.
      messages.remove(call(), again.subList(0, 2));
      messages.close();
      await().untilAsserted(() -> assertThat(theirs).hasSize(1));
    }
  }

  /** What another client has by then is not waited for without a bound, and is not there. */
  @ParameterizedTest
  @EnumSource
  void whatDoesNotComeAgainIsMissed(TokenQueueType type) throws Exception {
    try (TokenAdminConnection connection = connect();
        UnackedMessages messages = withMessages(connection, type, List.of("1", "2"));
        Connection stranger = fixture.stranger()) {
      assertThat(messages.take(call(), 2)).hasSize(2);
      Channel theirs = stranger.createChannel();
      theirs.basicQos(1);
      theirs.basicConsume(queue, false, Map.of("x-priority", 2_000), (tag, got) -> {}, tag -> {});
      assertThat(messages.again(call())).hasSize(1);
    }
  }

  /** Nothing of it counts any more: its messages are in the queue again. */
  @Tag("trap-22")
  @Test
  void aClassicQueueWhoseProcessDiesEndsAll(Broker broker) {
    try (TokenAdminConnection connection = connect();
        UnackedMessages messages =
            withMessages(connection, TokenQueueType.CLASSIC, List.of("1", "2"))) {
      messages.receive(call(), 0);
      Message first = messages.next(call(), LONG).orElseThrow();
      broker.faults().crashQueue(queue);
      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> messages.all(call()))
                      .isInstanceOf(LockException.NotFound.class)
                      .hasMessageContaining("its process has died"));
      assertThatThrownBy(() -> messages.remove(call(), List.of(first)))
          .isInstanceOf(LockException.NotFound.class);
      assertThatThrownBy(() -> messages.again(call())).isInstanceOf(LockException.NotFound.class);
      try (UnackedMessages others = connection.unacked(call(), queue, TokenQueueType.CLASSIC)) {
        assertThat(others.take(call(), 3)).extracting(Message::text).containsExactly("1", "2");
        messages.close();
        // It does not put back what others have by now.
        assertThat(connection.count(call(), queue)).hasValue(0);
      }
    }
  }

  private void anOverdueAnswerIsNotWaitedForAgain(
      Broker broker, BiConsumer<UnackedMessages, Call> asking) {
    try (TokenAdminConnection connection = connect()) {
      connection.declareTokens(call(), queue, TokenQueueType.CLASSIC);
      connection.publish(call(), queue, List.of("1", "2"));
      UnackedMessages messages = connection.unacked(call(), queue, TokenQueueType.CLASSIC);
      assertThat(messages.take(call(), 1)).hasSize(1);
      broker.faults().suspendQueue(queue);
      try {
        assertThatThrownBy(() -> asking.accept(messages, call()))
            .isInstanceOf(LockException.Unanswered.class);
        long began = System.nanoTime();
        messages.close();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(NO_WAIT);
      } finally {
        broker.faults().resumeQueue(queue);
      }
    }
    try (TokenAdminConnection another = connect()) {
      await().until(() -> another.count(call(), queue).orElse(0) == 2);
    }
  }
}
