package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an administrator does with a queue that hangs. */
@Tag("trap-6")
@BrokerTest(everyLine = true)
class UnackedMessagesTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  /** A wait for an answer takes a call timeout, which is five seconds. */
  private static final Duration NO_WAIT = Duration.ofSeconds(4);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(30));
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

  private void anOverdueAnswerIsNotWaitedForAgain(
      Broker broker, BiConsumer<UnackedMessages, Call> asking) {
    try (TokenAdminConnection connection = connect()) {
      connection.declareTokens(call(), queue, TokenQueueType.CLASSIC);
      connection.publish(call(), queue, List.of("1", "2"));
      UnackedMessages messages = connection.unacked(call(), queue);
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
