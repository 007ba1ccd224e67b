package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.internal.lease.Holding.Standing;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHolding;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the broker says of a holding when it is asked. The watch, which tells of the same without being
 * asked, is not heard here: it would hide that nobody asked.
 */
@Tag("trap-14")
@BrokerTest(everyLine = true)
class QueueHoldingTest {

  private static final LockId LOCK = LockId.semaphore("l");

  private Broker broker;
  private Fixture fixture;
  private ClockedClient client;
  private String holderQueue;
  private String slotQueue;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    fixture = new Fixture(given);
    client = new ClockedClient(given, Duration.ofSeconds(10));
    holderQueue = fixture.prefix() + "b";
    slotQueue = fixture.prefix() + "a";
    fixture.willStay(slotQueue);
    client.session().slots().declare(call(), slotQueue);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    fixture.close();
  }

  private Call call() {
    return client.call(LOCK);
  }

  private Holding holding(boolean ofSlot) {
    return new QueueHolding(LOCK, 1, holderQueue, ofSlot ? slotQueue : null);
  }

  private Holding taken(boolean ofSlot) {
    Holding holding = holding(ofSlot);
    assertThat(holding.contend(call(), client.session())).isTrue();
    assertThat(holding.secure(call(), client.session(), () -> {})).isTrue();
    assertThat(standing(holding)).isEqualTo(Standing.OURS);
    return holding;
  }

  private Standing standing(Holding holding) {
    return holding.standing(call(), client.session());
  }

  private Connection takenByAnother() throws Exception {
    Connection another = fixture.stranger();
    another.createChannel().queueDeclare(holderQueue, false, true, false, null);
    return another;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isGoneWithItsQueue(boolean ofSlot) {
    Holding holding = taken(ofSlot);
    broker.faults().deleteQueue(holderQueue);
    assertThat(standing(holding)).isEqualTo(Standing.GONE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isGoneWhereItsQueueIsAnothers(boolean ofSlot) throws Exception {
    Holding holding = taken(ofSlot);
    broker.faults().deleteQueue(holderQueue);
    try (Connection another = takenByAnother()) {
      assertThat(standing(holding)).isEqualTo(Standing.GONE);
    }
  }

  @Test
  void saysThatItsSlotWasRemoved() throws Exception {
    Holding holding = taken(true);
    fixture.delete(slotQueue);
    assertThat(standing(holding)).isEqualTo(Standing.SLOT_REMOVED);
  }

  @Test
  void ofAnyOtherSlotNothingIsAsked() throws Exception {
    Holding holding = taken(false);
    fixture.delete(slotQueue);
    assertThat(standing(holding)).isEqualTo(Standing.OURS);
  }

  /** As it does each time that the leases of a session are verified. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLeaseIsLostAtItsVerificationWhereItsQueueIsAnothers(boolean ofSlot) throws Exception {
    Holding unwatched =
        new DelegatingHolding(holding(ofSlot)) {
          @Override
          public boolean secure(Call call, Session session, Runnable revoked) {
            return super.secure(call, session, () -> {});
          }
        };
    HeldLease lease = client.book().take(call(), client.session(), unwatched).orElseThrow();
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    broker.faults().deleteQueue(holderQueue);
    try (Connection another = takenByAnother()) {
      assertThat(lease.state()).as("nobody asked").isEqualTo(LeaseState.HELD);
      client.book().verify(client.session()).join();
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }
  }

  @Test
  void isNotHeldIfItWasLostBeforeItIsWatched() {
    Holding holding = holding(false);
    assertThat(holding.contend(call(), client.session())).isTrue();
    broker.faults().deleteQueue(holderQueue);
    assertThat(holding.secure(call(), client.session(), () -> {})).isFalse();
  }

  /** The second time in a session the watch begins a moment later, and tells all the same. */
  @Test
  void isToldOfItsLossTheSecondTimeToo() throws Exception {
    taken(true).release(call(), client.session());
    CountDownLatch told = new CountDownLatch(1);
    Holding again = holding(true);
    assertThat(again.contend(call(), client.session())).isTrue();
    assertThat(again.secure(call(), client.session(), told::countDown)).isTrue();
    broker.faults().deleteQueue(holderQueue);
    // Nobody asks, so nothing else would ever tell.
    assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
  }
}
