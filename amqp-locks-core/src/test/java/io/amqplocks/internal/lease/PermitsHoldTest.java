package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.lease.Hold.Contest;
import io.amqplocks.internal.lease.Hold.HoldStatus;
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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a lease of several slots says and does when something happens to one of them. */
@BrokerTest
class PermitsHoldTest {

  private static final LockId LOCK = LockId.slotSemaphore("s");

  /** For so long a lease is certain, with a heartbeat of ten seconds. */
  private static final Duration CERTAIN = Duration.ofMillis(17_500);

  private final Recorder recorder = new Recorder();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(10), ReleaseListener.NONE, recorder);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private String queue(int slot) {
    return fixture.prefix() + "b." + slot;
  }

  private Contest slot(int slot) {
    return ExclusiveQueueHold.contest(LOCK, slot, queue(slot), null);
  }

  private Optional<HeldLease> take(Contest contest) {
    return client.registry().take(client.call(LOCK), client.session(), contest);
  }

  private HeldLease part(int slot) {
    return take(slot(slot)).orElseThrow();
  }

  private HeldLease whole(HeldLease... parts) {
    HeldLease lease = take(PermitsHold.contest(List.of(parts))).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  private void assertFree(int slot) {
    await().until(() -> !fixture.exists(queue(slot)));
  }

  @Test
  void isHeldAndReleasedAsOne() {
    HeldLease lease = whole(part(1), part(2), part(3));
    assertThat(lease.permits()).isEqualTo(3);
    assertThat(lease.slot()).isEqualTo(1);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    assertThat(client.registry().views()).as("its parts are not listed").hasSize(1);
    lease.close();
    lease.close();
    for (int slot = 1; slot <= 3; slot++) {
      assertFree(slot);
    }
    client.tellAll();
    String id = LOCK.toString();
    assertThat(recorder.heard).containsExactly("acquired " + id, "released " + id);
  }

  /** The first slot was won long before the last one. */
  @Test
  void isCertainFromTheOldestProofOn() {
    HeldLease first = part(1);
    Duration later = Duration.ofSeconds(4);
    client.pass(later);
    HeldLease lease = whole(first, part(2));
    client.pass(CERTAIN.minus(later).minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    client.pass(CERTAIN.minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void isLostWithAnyOfItsSlotsAndGivesTheOthersBack() {
    HeldLease second = part(2);
    HeldLease lease = whole(part(1), second, part(3));
    second.revoked();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
    assertThat(lease.lossReason().orElseThrow().detail())
        .startsWith("one of 3 permits was lost, and the others are released: ")
        .contains(queue(2));
    for (int slot = 1; slot <= 3; slot++) {
      assertFree(slot);
    }
    lease.close();
    client.tellAll();
    assertThat(recorder.heard).containsExactly("acquired " + LOCK, "lost " + LOCK + " REVOKED");
  }

  @Test
  void isNotWonWithASlotThatWasLostBefore() {
    HeldLease first = part(1);
    HeldLease second = part(2);
    second.revoked();
    assertThat(take(PermitsHold.contest(List.of(first, second)))).isEmpty();
    assertFree(1);
  }

  /** Between the look at all of them and the moment from which on their loss is told. */
  @Test
  void isNotWonWithASlotThatIsLostMeanwhile() {
    HeldLease first = part(1);
    HeldLease second = part(2);
    Contest contest = PermitsHold.contest(List.of(first, second));
    assertThat(
            take(
                (call, session) -> {
                  Optional<? extends Hold> won = contest.win(call, session);
                  second.revoked();
                  return won;
                }))
        .isEmpty();
    assertFree(1);
    assertThat(client.registry().views()).isEmpty();
  }

  @Test
  void isNotWonWithASlotOfAnotherSession() {
    HeldLease first = part(1);
    client.session().end(new LossReason(Cause.SESSION_ENDED, "by the test"));
    HeldLease second = part(2);
    assertThat(take(PermitsHold.contest(List.of(first, second)))).isEmpty();
    assertFree(2);
  }

  @Test
  void isUncertainWhileOneOfItsSlotsIs() {
    AtomicBoolean doubt = new AtomicBoolean();
    HeldLease second =
        take(DelegatingHold.contest(
                slot(2),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public boolean isInDoubt() {
                        return doubt.get();
                      }
                    }))
            .orElseThrow();
    HeldLease lease = whole(part(1), second);
    doubt.set(true);
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    doubt.set(false);
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
  }

  /** It may be another client's by now, although nothing says so yet. */
  @Test
  void doesNotBeginWithASlotThatIsUnderWay() {
    AtomicBoolean underWay = new AtomicBoolean(true);
    HeldLease second =
        take(DelegatingHold.contest(
                slot(2),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public boolean isUnderWay() {
                        return underWay.get();
                      }
                    }))
            .orElseThrow();
    List<HeldLease> parts = List.of(part(1), second);
    assertThat(PermitsHold.mayBegin(parts, client.session())).isFalse();
    underWay.set(false);
    assertThat(PermitsHold.mayBegin(parts, client.session())).isTrue();
  }

  /** A verification that had begun when the lease begins is over after a round trip. */
  @Test
  void waitsForASlotThatIsUnderWayAndIsNotWonWithoutIt() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    AtomicInteger away = new AtomicInteger(3);
    UnaryOperator<Hold> moving =
        hold ->
            new DelegatingHold(hold) {
              @Override
              public boolean isUnderWay() {
                return looks.incrementAndGet() <= away.get();
              }
            };
    HeldLease second = take(DelegatingHold.contest(slot(2), moving)).orElseThrow();
    looks.set(0);
    HeldLease lease = take(PermitsHold.contest(List.of(part(1), second))).orElseThrow();
    assertThat(looks.get()).isGreaterThan(3);
    lease.close();
    HeldLease another = take(DelegatingHold.contest(slot(2), moving)).orElseThrow();
    looks.set(0);
    away.set(Integer.MAX_VALUE);
    assertThat(take(PermitsHold.contest(List.of(part(1), another)))).isEmpty();
    assertFree(1);
    assertFree(2);
  }

  /** A slot that gives no answer leaves the lease as old as it was. */
  @Test
  void isNotVerifiedUnlessAllOfItsSlotsAre() {
    HeldLease second =
        take(DelegatingHold.contest(
                slot(2),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public HoldStatus status(Call call, Session session) {
                        return HoldStatus.UNKNOWN;
                      }
                    }))
            .orElseThrow();
    HeldLease lease = whole(part(1), second);
    client.pass(CERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.UNCERTAIN);
    client.registry().verify(client.session()).join();
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  /** Whatever a pass has no time for comes first in the next one. */
  @Test
  void isVerifiedByPassesThatTogetherReachAllSlots() {
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger answers = new AtomicInteger();
    UnaryOperator<Hold> slow =
        real ->
            new DelegatingHold(real) {
              @Override
              public HoldStatus status(Call call, Session session) {
                asked.incrementAndGet();
                return answers.getAndDecrement() > 0
                    ? super.status(call, session)
                    : HoldStatus.UNKNOWN;
              }
            };
    HeldLease first = take(DelegatingHold.contest(slot(1), slow)).orElseThrow();
    HeldLease lease = whole(first, take(DelegatingHold.contest(slot(2), slow)).orElseThrow());
    client.pass(Duration.ofSeconds(10));
    answers.set(1);
    assertThat(lease.check(client.call(LOCK))).isEqualTo(HoldStatus.UNKNOWN);
    client.pass(Duration.ofSeconds(4));
    answers.set(1);
    assertThat(lease.check(client.call(LOCK))).isEqualTo(HoldStatus.UNKNOWN);
    assertThat(asked).hasValue(4);
    client.pass(CERTAIN.minusSeconds(4).minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  /** Such a loss is not that of one slot, and whoever compares reasons finds the same one. */
  @ParameterizedTest
  @EnumSource(names = {"SESSION_ENDED", "EXPIRED"})
  void saysWhatEndedTheSession(Cause cause) {
    HeldLease second = part(2);
    HeldLease lease = whole(part(1), second);
    LossReason reason = new LossReason(cause, "by the test");
    second.sessionEnded(reason);
    assertThat(lease.lossReason()).contains(reason);
  }
}
