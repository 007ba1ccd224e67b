package io.amqplocks.internal.exclusive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the broker says of a holding when it is asked. The watch, which tells of the same without
 * being asked, is not heard here: it would hide that nobody asked.
 */
@Tag("trap-14")
@BrokerTest(everyLine = true)
class ExclusiveQueueHoldTest {

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

  private Hold.Contest contest(boolean ofSlot) {
    return ExclusiveQueueHold.contest(LOCK, 1, holderQueue, ofSlot ? slotQueue : null);
  }

  private Hold won(boolean ofSlot) {
    return contest(ofSlot).win(call(), client.session()).orElseThrow();
  }

  private Hold taken(boolean ofSlot) {
    Hold hold = won(ofSlot);
    assertThat(hold.secure(call(), client.session(), () -> {})).isTrue();
    assertThat(status(hold)).isEqualTo(HoldStatus.OURS);
    return hold;
  }

  private HoldStatus status(Hold hold) {
    return hold.status(call(), client.session());
  }

  private Connection takenByAnother() throws Exception {
    Connection another = fixture.stranger();
    another.createChannel().queueDeclare(holderQueue, false, true, false, null);
    return another;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isGoneWithItsQueue(boolean ofSlot) {
    Hold hold = taken(ofSlot);
    broker.faults().deleteQueue(holderQueue);
    assertThat(status(hold)).isEqualTo(HoldStatus.GONE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isGoneWhereItsQueueIsAnothers(boolean ofSlot) throws Exception {
    Hold hold = taken(ofSlot);
    broker.faults().deleteQueue(holderQueue);
    try (Connection another = takenByAnother()) {
      assertThat(status(hold)).isEqualTo(HoldStatus.GONE);
    }
  }

  @Tag("trap-27")
  @Test
  void aSessionEndsWhoseQueueIsGoneThoughItsConsumerIsNot() {
    taken(false);
    Session session = client.session();
    QueueDeletionWatch.of(session).requireEnd(session, holderQueue, Duration.ofMillis(100));
    await().until(() -> session.endReason() != null);
    assertThat(String.valueOf(session.endReason())).contains(holderQueue);
  }

  @Tag("trap-27")
  @Test
  void aSessionGoesOnWhoseQueueWasDeletedWithItsConsumer() {
    taken(false);
    Session session = client.session();
    QueueDeletionWatch.of(session).requireEnd(session, holderQueue, Duration.ofSeconds(2));
    broker.faults().deleteQueue(holderQueue);
    await().during(Duration.ofSeconds(3)).until(() -> session.endReason() == null);
  }

  @Test
  void saysThatItsSlotWasRemoved() throws Exception {
    Hold hold = taken(true);
    fixture.delete(slotQueue);
    assertThat(status(hold)).isEqualTo(HoldStatus.SLOT_REMOVED);
  }

  @Test
  void ofAnyOtherSlotNothingIsAsked() throws Exception {
    Hold hold = taken(false);
    fixture.delete(slotQueue);
    assertThat(status(hold)).isEqualTo(HoldStatus.OURS);
  }

  /** As it does each time that the leases of a session are verified. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLeaseIsLostAtItsVerificationWhereItsQueueIsAnothers(boolean ofSlot) throws Exception {
    Hold.Contest unwatched =
        DelegatingHold.contest(
            contest(ofSlot),
            hold ->
                new DelegatingHold(hold) {
                  @Override
                  public boolean secure(Call call, Session session, Runnable revoked) {
                    return super.secure(call, session, () -> {});
                  }
                });
    HeldLease lease = client.registry().take(call(), client.session(), unwatched).orElseThrow();
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    broker.faults().deleteQueue(holderQueue);
    try (Connection another = takenByAnother()) {
      assertThat(lease.state()).as("nobody asked").isEqualTo(LeaseState.HELD);
      client.registry().verify(client.session()).join();
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }
  }

  @Test
  void isNotHeldIfItWasLostBeforeItIsWatched() {
    Hold hold = won(false);
    broker.faults().deleteQueue(holderQueue);
    assertThat(hold.secure(call(), client.session(), () -> {})).isFalse();
  }

  /** The second time in a session the watch begins a moment later, and tells all the same. */
  @Test
  void isToldOfItsLossTheSecondTimeToo() throws Exception {
    taken(true).release(call(), client.session());
    CountDownLatch told = new CountDownLatch(1);
    Hold again = won(true);
    assertThat(again.secure(call(), client.session(), told::countDown)).isTrue();
    broker.faults().deleteQueue(holderQueue);
    // Nobody asks, so nothing else would ever tell.
    assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
  }

  /** A release that waited for the watch as long as it may would never send its delete. */
  @Tag("trap-6")
  @Test
  void aReleaseWhileTheWatchBeginsLeavesTimeForTheDelete() throws Exception {
    taken(false).release(call(), client.session());
    Hold again = won(false);
    broker.faults().suspendQueue(holderQueue);
    try {
      assertThat(again.secure(call(), client.session(), () -> {})).isTrue();
      // Its consumer is asked for by then.
      await().pollDelay(Duration.ofMillis(300)).until(() -> true);
      again.release(Call.on(LOCK, Duration.ofSeconds(4), Ticker.SYSTEM), client.session());
    } finally {
      broker.faults().resumeQueue(holderQueue);
    }
    await().until(() -> !fixture.exists(holderQueue));
  }
}
