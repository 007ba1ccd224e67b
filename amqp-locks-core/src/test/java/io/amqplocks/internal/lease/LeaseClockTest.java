package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real leases on a real broker, under a clock that the test turns. */
@Tag("trap-5")
@BrokerTest
class LeaseClockTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(10);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, HEARTBEAT);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private void pass(Duration time) {
    client.pass(time);
  }

  private HeldLease take(String name) {
    LockId lock = LockId.mutex(name);
    Hold.Contest contest = ExclusiveQueueHold.contest(lock, 1, fixture.prefix() + name, null);
    HeldLease lease =
        client.registry().take(client.call(lock), client.session(), contest).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  @Test
  void aLeaseIsCertainForAlmostTwoHeartbeatsFromItsLastVerification() {
    HeldLease lease = take("a");
    pass(Duration.ofMillis(17_499));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofMillis(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofMillis(17_500));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  @Test
  void threeSilentHeartbeatsLoseAllLeasesWithoutAskingAnybody() {
    HeldLease lease = take("a");
    HeldLease other = take("b");
    Session session = client.session();
    pass(HEARTBEAT.multipliedBy(3));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.EXPIRED));
    assertThat(other.state()).isEqualTo(LeaseState.LOST);
    assertThat(session.isOpen()).isFalse();
    assertThat(lease.whenLost().toCompletableFuture()).succeedsWithin(Duration.ofMinutes(1));
    await().until(() -> !fixture.exists(fixture.prefix() + "a"));
    assertThat(take("a").state()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void aLeaseIsNotLostForWantOfVerificationWhileTheBrokerAnswersOthers() {
    HeldLease lease = take("a");
    HeldLease other = take("b");
    pass(Duration.ofSeconds(20));
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofSeconds(15));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
  }

  /**
   * A mutex is verified by a message that comes back, and not by a request that has a reply. Of
   * whoever only holds mutexes, the broker answers nothing else.
   */
  @Test
  void aMutexThatHangsCostsNoOtherMutex() {
    HeldLease lease = takeMutex("a");
    HeldLease other = takeMutex("b");
    for (int i = 0; i < 4; i++) {
      pass(HEARTBEAT);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    }
    pass(Duration.ofSeconds(20));
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(other.state()).isEqualTo(LeaseState.HELD);
  }

  /** As any other lease: the broker drops a client that is silent for two heartbeats at least. */
  @Test
  void aShortPauseCostsNoMutex() {
    HeldLease lease = takeMutex("a");
    for (int i = 0; i < 4; i++) {
      pass(HEARTBEAT);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    pass(Duration.ofSeconds(19));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
  }

  private HeldLease takeMutex(String name) {
    return new MutexClaim(fixture.names().mutex(LockName.of(name)), client.registry())
        .attempt(client.call(LockId.mutex(name)), client.session())
        .orElseThrow();
  }
}
