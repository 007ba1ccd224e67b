package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A fenced lock whose queue is lost while its token is drawn: the question after the draw, put to a
 * real broker, and with a watch that tells nobody, as when its word comes a moment later.
 */
@BrokerTest(everyLine = true)
class FencedQueueTest {

  private static final LockId LOCK = LockId.slotSemaphore("l");

  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private String holderQueue;
  private String slotQueue;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    client = new ClockedClient(given, Duration.ofSeconds(10));
    holderQueue = fixture.prefix() + "b";
    slotQueue = fixture.prefix() + "a";
    client.session().durableQueues().declare(call(), slotQueue);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private Call call() {
    return client.call(LOCK);
  }

  private boolean isHad(boolean ofSlot, Runnable whileDrawing) {
    Hold.Contest unwatched =
        DelegatingHold.contest(
            ExclusiveQueueHold.contest(LOCK, 1, holderQueue, ofSlot ? slotQueue : null),
            hold ->
                new DelegatingHold(hold) {
                  @Override
                  public boolean secure(Call call, Session session, Runnable revoked) {
                    return super.secure(call, session, () -> {});
                  }
                });
    FencingTokenSource drawing =
        (call, session, lock, slot) -> {
          whileDrawing.run();
          return new FencingToken(slot, 1, 2);
        };
    return client
        .registry()
        .take(call(), client.session(), FencedHold.contest(unwatched, drawing))
        .isPresent();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isNotHadWhereItsQueueWentMeanwhile(boolean ofSlot) {
    assertThat(isHad(ofSlot, () -> broker.faults().deleteQueue(holderQueue))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isNotHadWhereItsQueueIsAnothersMeanwhile(boolean ofSlot) throws Exception {
    try (Connection another = fixture.stranger()) {
      assertThat(isHad(ofSlot, () -> takeFromUs(another))).isFalse();
    }
  }

  private void takeFromUs(Connection another) {
    broker.faults().deleteQueue(holderQueue);
    try {
      another.createChannel().queueDeclare(holderQueue, false, true, false, null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isHadElse(boolean ofSlot) {
    assertThat(isHad(ofSlot, () -> {})).isTrue();
  }
}
