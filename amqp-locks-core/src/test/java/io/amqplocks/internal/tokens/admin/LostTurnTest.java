package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.fencing.CounterAdminConnection;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An administrator whose turn the broker takes away while its connection lives. */
@Tag("trap-27")
@BrokerTest(everyLine = true)
class LostTurnTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  @RegisterExtension private final Fixture fixture = new Fixture();

  private AdminTurn turn(ClockedClient client) {
    return new AdminTurn(
        ID,
        fixture.names(),
        client.sessions(),
        Duration.ofSeconds(10),
        Ticker.SYSTEM,
        Clock.systemUTC(),
        Duration.ofSeconds(30));
  }

  private void loseTurn() {
    fixture.broker().faults().deleteQueue(fixture.names().tokenAdmin(ID));
  }

  private int messages(String queue) throws Exception {
    try (Connection connection = fixture.stranger()) {
      Channel channel = connection.createChannel();
      return channel.queueDeclarePassive(queue).getMessageCount();
    }
  }

  @Test
  void itWritesNoRecordAndPublishesNoToken(Broker broker) throws Exception {
    try (ClockedClient client = new ClockedClient(broker, Duration.ofSeconds(30))) {
      AdminTurn turn = turn(client);
      TokenRecord record = turn.during(steps -> steps.create(2, TokenQueueType.CLASSIC, false));
      String tokens = fixture.names().tokens(ID, record.generation());
      assertThat(messages(tokens)).isEqualTo(2);
      assertThatThrownBy(
              () ->
                  turn.during(
                      steps -> {
                        loseTurn();
                        return steps.resize(3);
                      }))
          .isInstanceOf(LockException.Unexpected.class)
          .hasMessageContainingAll(ID.toString(), fixture.names().tokenAdmin(ID), "try again");
      assertThat(turn.during(TokenSteps::record)).isEqualTo(record);
      try (TokenAdminConnection connection = turn.connect();
          BrokerTokens atBroker = new BrokerTokens(ID, turn.records(), connection, turn::call)) {
        assertThat(connection.take(turn.call(), fixture.names().tokenAdmin(ID))).isTrue();
        loseTurn();
        List<TokenContent> more = record.members().contents(broker.version().major());
        assertThatThrownBy(() -> atBroker.publish(record.generation(), more))
            .isInstanceOf(LockException.Unexpected.class);
      }
      assertThat(messages(tokens)).isEqualTo(2);
    }
  }

  /** Another one has the turn by then. */
  @Test
  void itFillsNoCounter(Broker broker) throws Exception {
    String turn = fixture.prefix() + "turn";
    String counter = fixture.prefix() + "counter";
    Call call = Call.on(ID, Duration.ofSeconds(10), Ticker.SYSTEM);
    try (ClockedClient client = new ClockedClient(broker, Duration.ofSeconds(30));
        Connection other = fixture.stranger();
        CounterAdminConnection connection =
            CounterAdminConnection.open(call, client.sessions().current(call))) {
      assertThat(connection.take(call, turn)).isTrue();
      connection.make(call, counter + "-1", "content");
      assertThat(messages(counter + "-1")).isEqualTo(1);
      broker.faults().deleteQueue(turn);
      other.createChannel().queueDeclare(turn, false, true, false, null);
      assertThatThrownBy(() -> connection.make(call, counter + "-2", "content"))
          .isInstanceOf(LockException.Unexpected.class);
    }
    assertThat(messages(counter + "-2")).isZero();
  }
}
