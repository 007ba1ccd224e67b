package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an administrator learns whose locks are closed, or whose session ends, while it works. */
@BrokerTest
class ClosedDuringTurnTest {

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

  @Test
  void aCloseIsReportedAndNotTheConnectionThatItEnded(Broker broker) {
    try (ClockedClient client = new ClockedClient(broker, Duration.ofSeconds(30))) {
      assertThatThrownBy(
              () ->
                  turn(client)
                      .during(
                          steps -> {
                            client.sessions().close();
                            throw new LockException.Unreachable("as the reader fails", null);
                          }))
          .isInstanceOf(LockException.Closed.class)
          .hasMessageContaining(ID.toString());
    }
  }

  @Test
  void aSessionThatEndedIsNoClose(Broker broker) {
    try (ClockedClient client = new ClockedClient(broker, Duration.ofSeconds(30))) {
      assertThatThrownBy(
              () ->
                  turn(client)
                      .during(
                          steps -> {
                            throw new LockException.Unreachable("as the reader fails", null);
                          }))
          .isInstanceOf(LockException.Unreachable.class)
          .hasMessage("as the reader fails");
    }
  }
}
