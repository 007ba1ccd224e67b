package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.wakeup.WakeQueues;
import io.amqplocks.internal.wakeup.WakeSubscription;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Connections that hold nothing are closed when nobody uses them, under a clock that the test
 * turns.
 */
@BrokerTest(everyLine = true)
class IdleConnectionsTest {

  private static final LockId LOCK = LockId.mutex("l");
  private static final Duration IDLE = AuxiliaryConnection.LONGEST_IDLE;
  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private ClockedClient client;
  private Session session;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    client = new ClockedClient(given, fixture.prefix(), Duration.ofHours(1));
    session = client.session();
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private Call call() {
    return client.call(LOCK);
  }

  private HeldLease acquired(String name) {
    MutexClaim claim = new MutexClaim(fixture.prefix() + name, client.registry());
    return claim.attempt(call(), session).orElseThrow();
  }

  private List<String> connections() {
    return connections(fixture.prefix());
  }

  private List<String> connections(String client) {
    return broker.faults().connections().stream()
        .filter(each -> each.startsWith(client + " "))
        .map(each -> each.substring(client.length() + 1))
        .sorted()
        .toList();
  }

  /** Two looks: one that gives the connection to nobody any more, and one that closes it. */
  private void look() {
    session.closeIdleConnections();
    client.pass(IDLE);
    session.closeIdleConnections();
  }

  @Test
  void atRestOnlyTheHolderIsLeft() {
    HeldLease lease = acquired("m");
    await()
        .untilAsserted(
            () -> assertThat(connections()).containsExactly("announcer", "holder", "side"));
    client.pass(IDLE.minusSeconds(1));
    look();
    assertThat(connections()).as("used a minute ago").contains("announcer", "side");

    client.pass(IDLE);
    look();

    await().untilAsserted(() -> assertThat(connections()).containsExactly("holder"));
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    HeldLease another = acquired("another");
    assertThat(another.verify()).isEqualTo(LeaseState.HELD);
    await()
        .untilAsserted(
            () -> assertThat(connections()).containsExactly("announcer", "holder", "side"));
  }

  /**
   * Each kind of lock is held by one process, by the real clock: nothing that holders do now and
   * then uses another connection than their own.
   */
  @Tag("rare")
  @Test
  void atRestOnlyTheTwoHoldersAreLeftOfAnyMix() throws Exception {
    String name = fixture.prefix() + "mix";
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(name));
    fixture.create(locks, "l", 2);
    fixture.enable(locks, "l");
    locks.admin().tokenSemaphore("l").create(2, TokenQueueType.QUORUM);
    locks.admin().tokenSemaphore("fenced").create(1, TokenQueueType.QUORUM);
    locks.admin().tokenSemaphore("classic").create(1, TokenQueueType.CLASSIC);
    List<Lease> leases = new ArrayList<>();
    for (AmqpLock lock :
        List.of(
            locks.mutex("l"),
            locks.mutex("fenced").fenced(),
            locks.exclusiveQueueMutex("exclusive"),
            locks.persistentMutex("l"),
            locks.fencedMutex("l"),
            locks.slotSemaphore("l"),
            locks.tokenSemaphore("l").withPermits(2),
            locks.tokenSemaphore("fenced").fenced(),
            locks.tokenSemaphore("classic"),
            locks.readWriteLock("l").readLock(),
            locks.readWriteLock("written").writeLock())) {
      leases.add(lock.acquire(LONG));
    }
    // Somebody may wait for the slot, and is notified.
    locks.slotSemaphore("l").acquire(LONG).close();
    await()
        .untilAsserted(
            () ->
                assertThat(connections(name))
                    .as("those that CAPACITY counts with")
                    .containsExactly("announcer", "holder", "prober", "quorum holder", "side"));

    await()
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofSeconds(2))
        .untilAsserted(
            () -> assertThat(connections(name)).containsExactly("holder", "quorum holder"));

    assertThat(leases)
        .allSatisfy(
            lease ->
                assertThat(lease.verify()).as("%s", lease.lossReason()).isEqualTo(LeaseState.HELD));
    assertThat(connections(name)).containsExactly("holder", "quorum holder");
  }

  @Test
  void whoWaitsKeepsItsConnection() {
    WakeSubscription waiting =
        WakeQueues.of(session).listen(call(), fixture.prefix() + "wake", queue -> false, () -> {});
    client.pass(IDLE.multipliedBy(3));
    look();
    look();
    assertThat(connections()).containsExactly("holder", "side");
    assertThat(waiting.isGone()).isFalse();
    waiting.close();
    client.pass(IDLE);
    look();
    await().untilAsserted(() -> assertThat(connections()).containsExactly("holder"));
  }

  /** Who was given the connection just before nobody is any more, may still use it. */
  @Test
  void aConnectionIsNotClosedUnderItsLastUser() {
    AuxiliaryConnection.Life life = session.side().open(call());
    client.pass(IDLE);
    session.closeIdleConnections();
    assertThat(life.connection().isOpen()).isTrue();
    AuxiliaryConnection.Life next = session.side().open(call());
    assertThat(next).isNotSameAs(life);
    session.closeIdleConnections();
    assertThat(life.connection().isOpen()).as("within a call").isTrue();
    client.pass(IDLE);
    session.closeIdleConnections();
    await().until(() -> !life.connection().isOpen());
  }

  /** No alarm is known on a connection that is about to be closed, and nothing keeps it open. */
  @Test
  void aNotificationIsNotSentByAConnectionThatIsRetired() {
    WakeQueues.of(session).tell(LOCK, fixture.prefix() + "wake", () -> {});
    await().untilAsserted(() -> assertThat(connections()).containsExactly("announcer", "holder"));
    client.pass(IDLE);
    session.closeIdleConnections();
    WakeQueues.of(session).tell(LOCK, fixture.prefix() + "wake", () -> {});
    await()
        .untilAsserted(
            () -> assertThat(connections()).containsExactly("announcer", "announcer", "holder"));
  }

  @Test
  void aSessionThatEndsClosesWhatIsRetired() {
    AuxiliaryConnection.Life life = session.side().open(call());
    client.pass(IDLE);
    session.closeIdleConnections();
    assertThat(life.connection().isOpen()).isTrue();
    client.close();
    await().until(() -> !life.connection().isOpen());
  }
}
