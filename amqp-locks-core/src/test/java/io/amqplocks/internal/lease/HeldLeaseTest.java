package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a lease says when answers take their time, and when its loss is told more than once. */
@Tag("trap-5")
@BrokerTest
class HeldLeaseTest {

  private static final LockId LOCK = LockId.mutex("l");

  /** For so long a lease is certain, with a heartbeat of ten seconds. */
  private static final Duration CERTAIN = Duration.ofMillis(17_500);

  private static final Duration UNDER_WAY = Duration.ofSeconds(4);

  private final Recorder recorder = new Recorder();
  private final AtomicInteger told = new AtomicInteger();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(10), ReleaseListener.NONE, recorder);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private Hold.Contest queue() {
    return ExclusiveQueueHold.contest(LOCK, 1, fixture.prefix() + "b", null);
  }

  private HeldLease take(Hold.Contest contest) {
    HeldLease lease =
        client.registry().take(client.call(LOCK), client.session(), contest).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  private void requireCertainForNoLongerThan(Duration time, HeldLease lease) {
    client.pass(time.minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  /** As the lease of who waited, which begins when the first one is lost. */
  @Test
  void aRevocationTakesNoLeaseThatBeginsMeanwhile() {
    List<HeldLease> later = new ArrayList<>();
    take(queue())
        .onLoss(
            () -> {
              // Many, since a look at all leases sees some of those that come, and not others.
              while (later.size() < 20) {
                String other = fixture.prefix() + "later" + later.size();
                later.add(take(ExclusiveQueueHold.contest(LOCK, 1, other, null)));
              }
            });
    assertThat(client.registry().revoke(LOCK, new LossReason(Cause.REVOKED, "for a test")))
        .isEqualTo(1);
    assertThat(later).hasSize(20).allMatch(HeldLease::isHeld);
    later.forEach(HeldLease::close);
  }

  /** What the broker does from when it was asked on is unknown, however late its answer is. */
  @Test
  void isCertainFromItsRequestOnAndNotFromTheAnswer() {
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public HoldStatus status(Call call, Session session) {
                        HoldStatus answer = super.status(call, session);
                        client.pass(UNDER_WAY);
                        return answer;
                      }
                    }));
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
    client.registry().verify(client.session()).join();
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
  }

  @Test
  void andSoItIsWhenItIsWon() {
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold -> {
                  client.pass(UNDER_WAY.dividedBy(2));
                  return new DelegatingHold(hold) {
                    @Override
                    public boolean secure(Call call, Session session, Runnable revoked) {
                      boolean secured = super.secure(call, session, revoked);
                      client.pass(UNDER_WAY.dividedBy(2));
                      return secured;
                    }
                  };
                }));
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
  }

  /** Whatever the clock says. */
  @Tag("defect-S2")
  @Test
  void isUncertainWhileAnotherMayHaveWhatItIsHeldBy() {
    AtomicBoolean doubt = new AtomicBoolean();
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public boolean isInDoubt() {
                        return doubt.get();
                      }
                    }));
    doubt.set(true);
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.view().state()).isEqualTo(LeaseState.UNCERTAIN);
    doubt.set(false);
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertThat(lease.view().state()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void isLostOnceHoweverOftenThatIsSaid() {
    HeldLease lease = take(queue());
    lease.whenLost().thenAccept(reason -> told.incrementAndGet());
    lease.revoked();
    lease.revoked();
    assertThat(lease.lose(new LossReason(LossReason.Cause.SLOT_REMOVED, "said later"))).isFalse();
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "said last"));
    lease.close();
    // Those who depend on a lease are told by a thread of their own.
    await().until(() -> told.get() == 1);
    client.tellAll();
    assertThat(told).hasValue(1);
    assertThat(recorder.heard).containsExactly("acquired mutex 'l'", "lost mutex 'l' REVOKED");
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.REVOKED));
  }

  /** The system lets the process start no thread now, and the slot cannot be given back. */
  @Test
  void itsHolderHearsOfALossWhateverBecomesOfTheSlot() {
    LeaseRegistry starved =
        new LeaseRegistry(
            Duration.ofSeconds(5),
            client.registry()::nanos,
            client.notices(),
            task -> {
              throw new OutOfMemoryError("unable to create native thread, says the test");
            },
            ReleaseListener.NONE);
    HeldLease lease = starved.take(client.call(LOCK), client.session(), queue()).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    lease.onLoss(told::incrementAndGet);
    LossReason reason = new LossReason(Cause.REVOKED, "for a test");
    assertThatThrownBy(() -> starved.revoke(LOCK, reason)).isInstanceOf(OutOfMemoryError.class);
    assertThat(told).hasValue(1);
    assertThat(lease.whenLost().toCompletableFuture())
        .succeedsWithin(Duration.ofSeconds(20))
        .isEqualTo(reason);
  }

  /** All leases are released at the close, also those that are being acquired. */
  @Test
  void nobodyHearsOfTheReleaseOfALeaseThatWasNeverAcquired() {
    assertThat(
            client
                .registry()
                .take(
                    client.call(LOCK),
                    client.session(),
                    DelegatingHold.contest(
                        queue(),
                        hold ->
                            new DelegatingHold(hold) {
                              @Override
                              public boolean secure(Call call, Session session, Runnable revoked) {
                                client.registry().releaseAll();
                                return true;
                              }
                            })))
        .isEmpty();
    client.tellAll();
    assertThat(recorder.heard).isEmpty();
  }

  @Test
  void whatIsReleasedIsNotLostAnyMore() {
    HeldLease lease = take(queue());
    lease.close();
    lease.revoked();
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "by the test"));
    client.tellAll();
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThat(recorder.heard).containsExactly("acquired mutex 'l'", "released mutex 'l'");
  }
}
