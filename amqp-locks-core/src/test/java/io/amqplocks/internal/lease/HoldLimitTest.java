package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * When a limit is reached, under a clock that the test turns. The alarms go by the real clock, so
 * none of them is due here: what a lease says after its limit is what it says after a pause of the
 * process, before the timer's thread runs.
 */
@BrokerTest
class HoldLimitTest {

  private static final LockId LOCK = LockId.mutex("l");

  /** Below the time for which a lease is certain. */
  private static final Duration LIMIT = Duration.ofSeconds(15);

  private final Deque<BrokerGrant> offered = new ArrayDeque<>();
  private final ReleaseListener oneWaits =
      new ReleaseListener() {
        @Override
        public void freed(LockId lock, Session session) {}

        @Override
        public boolean offer(BrokerGrant slot) {
          offered.add(slot);
          return true;
        }
      };

  private final Recorder recorder = new Recorder();
  private final CompletableFuture<LeaseState> stateAtRelease = new CompletableFuture<>();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AutoClose("shutdownNow")
  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

  @SuppressWarnings("NullAway.Init")
  private ClockedClient client;

  @SuppressWarnings("NullAway.Init")
  private HeldLease lease;

  @BeforeEach
  void acquire(Broker broker) {
    timer.setRemoveOnCancelPolicy(true);
    client = new ClockedClient(broker, Duration.ofSeconds(10), oneWaits, recorder);
    lease =
        client
            .registry()
            .take(
                client.call(LOCK),
                client.session(),
                DelegatingHold.contest(
                    ExclusiveQueueHold.contest(LOCK, 1, queue(), null), Noting::new))
            .orElseThrow();
  }

  @AfterEach
  void close() {
    client.close();
  }

  private String queue() {
    return fixture.prefix() + "b";
  }

  /** Notes what the lease says when its slot is given back. */
  private final class Noting extends DelegatingHold {
    Noting(Hold real) {
      super(real);
    }

    @Override
    public void release(Call call, Session session) {
      stateAtRelease.complete(lease.state());
      super.release(call, session);
    }
  }

  private void limit(HeldLease each) {
    each.holdAtMost(LIMIT, timer);
    each.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
  }

  private void requireLostAtTheLimit() {
    assertThat(lease.lossReason())
        .hasValueSatisfying(reason -> assertThat(reason.cause()).isEqualTo(Cause.HOLD_LIMIT));
    assertThat(stateAtRelease).succeedsWithin(Fixture.AT_ONCE).isEqualTo(LeaseState.LOST);
    await().untilAsserted(() -> assertThat(fixture.exists(queue())).isFalse());
    client.tellAll();
    assertThat(recorder.heard).containsOnlyOnce("lost " + LOCK + " HOLD_LIMIT");
    assertThat(recorder.heard).doesNotContain("released " + LOCK);
    assertThat(offered).as("it goes back to the broker").isEmpty();
    assertThat(timer.getQueue()).as("alarms").isEmpty();
  }

  @Test
  void theFirstLookAtTheLimitSaysLostThoughNoTimerRan() {
    limit(lease);
    client.pass(LIMIT.minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofNanos(1));
    assertThat(lease.view().state()).as("a snapshot ends nothing").isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.lossReason()).isEmpty();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    requireLostAtTheLimit();
  }

  @Test
  void theBrokersAnswerDoesNotProlongIt() {
    limit(lease);
    client.pass(LIMIT);
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    requireLostAtTheLimit();
  }

  @Test
  void whoClosesItTooLateHasLostIt() {
    limit(lease);
    client.pass(LIMIT);
    lease.close();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    requireLostAtTheLimit();
  }

  @Test
  void theAlarmEndsItThoughNobodyLooks() {
    lease.holdAtMost(Duration.ofMillis(1), timer);
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    assertThat(lease.whenLost()).succeedsWithin(Fixture.AT_ONCE);
    requireLostAtTheLimit();
  }

  @Test
  void aLeaseThatIsClosedEarlyLeavesNoAlarm() {
    limit(lease);
    assertThat(timer.getQueue()).hasSize(1);
    lease.close();
    assertThat(timer.getQueue()).isEmpty();
    client.pass(LIMIT.multipliedBy(2));
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
  }

  @Test
  void norDoesOneThatWasLostBeforeItWasLimited() {
    lease.revoked();
    limit(lease);
    assertThat(timer.getQueue()).isEmpty();
    assertThat(lease.lossReason())
        .hasValueSatisfying(reason -> assertThat(reason.cause()).isNotEqualTo(Cause.HOLD_LIMIT));
  }

  /** The next lease of the slot is another holder's. */
  @Test
  void aSlotThatIsHandedOverCountsAnew() {
    limit(lease);
    client.pass(Duration.ofMillis(50));
    lease.close();
    client.pass(Duration.ofSeconds(10));
    HeldLease next = offered.remove().takeOver(false).orElseThrow();
    limit(next);
    client.pass(Duration.ofSeconds(6));
    assertThat(next.verify())
        .as("after 16 s of the slot, 6 s of its own")
        .isEqualTo(LeaseState.HELD);
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    client.pass(Duration.ofSeconds(9));
    assertThat(next.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
  }

  @Test
  void aLimitOfCenturiesIsNone() throws Exception {
    lease.holdAtMost(Duration.ofSeconds(Long.MAX_VALUE), timer);
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    timer.submit(() -> {}).get(5, TimeUnit.SECONDS);
    client.pass(LIMIT);
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
  }
}
