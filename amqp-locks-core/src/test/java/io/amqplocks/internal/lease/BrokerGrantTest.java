package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.lease.Hold.HoldStatus;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A slot that goes from lease to lease in one process, under a clock that the test turns. */
@BrokerTest
class BrokerGrantTest {

  private static final LockId LOCK = LockId.mutex("l");

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
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private String queue;

  @BeforeEach
  void open(Broker given) {
    broker = given;
    client = new ClockedClient(given, Duration.ofSeconds(10), oneWaits, LockListener.NO_OP);
    queue = fixture.prefix() + "b";
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private HeldLease take() {
    return take(queue());
  }

  private Hold.Contest queue() {
    return ExclusiveQueueHold.contest(LOCK, 1, queue, null);
  }

  private HeldLease take(Hold.Contest hold) {
    HeldLease lease =
        client.registry().take(client.call(LOCK), client.session(), hold).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  private Optional<HeldLease> takeOver() {
    return offered.remove().takeOver(false);
  }

  @Test
  void isHandedOverForATenthOfASecondFromWhenItWasHad() throws Exception {
    HeldLease lease = take();
    for (int turn = 0; turn < 4; turn++) {
      client.pass(Duration.ofMillis(20));
      lease.close();
      assertThat(fixture.exists(queue)).isTrue();
      lease = takeOver().orElseThrow();
      assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }
    client.pass(Duration.ofNanos(19_999_999));
    lease.close();
    lease = takeOver().orElseThrow();
    client.pass(Duration.ofNanos(1));
    lease.close();
    assertThat(offered).as("it is others' turn").isEmpty();
    assertThat(fixture.exists(queue)).isFalse();
  }

  @Test
  void isHandedOverTenThousandTimesAtMost() throws Exception {
    HeldLease lease = take();
    for (int turn = 0; turn < 10_000; turn++) {
      lease.close();
      lease = takeOver().orElseThrow();
    }
    lease.close();
    assertThat(offered).isEmpty();
    assertThat(fixture.exists(queue)).isFalse();
  }

  /** A verification that began for the last lease goes on: its token may move to another slot. */
  @Test
  void isNotTakenOverOnceItMayNotBeHandedOver() throws Exception {
    AtomicBoolean moved = new AtomicBoolean();
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public boolean mayBeHandedTo(boolean fenced) {
                        return !fenced && !moved.get();
                      }
                    }));
    lease.close();
    moved.set(true);
    assertThat(takeOver()).isEmpty();
    assertThat(fixture.exists(queue)).as("it went back to the broker").isFalse();
    take().close();
    assertThat(offered.remove().takeOver(true)).as("it has no fencing token").isEmpty();
  }

  /** A verification that began for the last lease goes on when that one has ended. */
  @Test
  void isNotTakenOverWhileItIsUnderWay() throws Exception {
    AtomicBoolean underWay = new AtomicBoolean();
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public boolean isUnderWay() {
                        return underWay.get();
                      }
                    }));
    lease.close();
    underWay.set(true);
    assertThat(takeOver()).isEmpty();
    assertThat(fixture.exists(queue)).as("it went back to the broker").isFalse();
  }

  @Test
  void itsLeasesHaveTheTokenThatWasDrawnAndTheNumberOfHandOvers() {
    FencingToken drawn = new FencingToken(1, 29_876_543, 20);
    FencingToken next = new FencingToken(1, 29_876_543, 21);
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public Optional<FencingToken> tokenIfAny() {
                        return Optional.of(drawn);
                      }
                    }));
    assertThat(lease.fencingToken()).isEqualTo(drawn);
    for (int turn = 1; turn <= BrokerGrant.MOST; turn++) {
      FencingToken before = lease.fencingToken();
      lease.close();
      assertThat(lease.fencingToken()).as("after its end").isEqualTo(before);
      lease = takeOver().orElseThrow();
      assertThat(lease.fencingToken()).isEqualTo(drawn.afterHandOvers(turn));
      assertThat(lease.fencingToken().isAfter(before)).isTrue();
      assertThat(next.isAfter(lease.fencingToken())).isTrue();
    }
    assertThat(lease.view().token()).contains(lease.fencingToken());
  }

  /** Who takes it over would believe that it has it. */
  @Tag("defect-S2")
  @Test
  void isNotHandedOverWhileAnotherMayHaveIt() throws Exception {
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
    lease.close();
    assertThat(offered).isEmpty();
    assertThat(fixture.exists(queue)).isFalse();
  }

  @Test
  void isNotTakenOverOnceItIsRevoked() throws Exception {
    take().close();
    BrokerGrant between = offered.remove();
    broker.faults().deleteQueue(queue);
    // What the watch calls; when it does there is no lease to tell.
    between.revoked();
    assertThat(between.takeOver(false)).isEmpty();
  }

  @Test
  void isNotTakenOverOnceItsSessionHasEnded() {
    take().close();
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "by the test"));
    assertThat(takeOver()).isEmpty();
  }

  @Test
  void aRevocationAfterItIsTakenOverReachesTheNewLease() {
    take().close();
    BrokerGrant slot = offered.remove();
    HeldLease next = slot.takeOver(false).orElseThrow();
    slot.revoked();
    assertThat(next.state()).isEqualTo(LeaseState.LOST);
  }

  /** The answer to a question of the last lease is about the slot, and so about the next lease. */
  @ParameterizedTest
  @EnumSource(
      value = HoldStatus.class,
      names = {"GONE", "SLOT_REMOVED"})
  void anAnswerThatComesAfterItIsTakenOverReachesTheNewLease(HoldStatus status) throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<HoldStatus> answer = new CompletableFuture<>();
    HeldLease lease =
        take(
            DelegatingHold.contest(
                queue(),
                hold ->
                    new DelegatingHold(hold) {
                      @Override
                      public HoldStatus status(Call call, Session session) {
                        asked.countDown();
                        return answer.join();
                      }
                    }));
    CompletableFuture<LeaseState> verified =
        CompletableFuture.supplyAsync(lease::verify, task -> new Thread(task).start());
    assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
    lease.close();
    BrokerGrant slot = offered.remove();
    HeldLease next = slot.takeOver(false).orElseThrow();
    answer.complete(status);
    assertThat(verified.get(30, TimeUnit.SECONDS)).isEqualTo(LeaseState.RELEASED);
    assertThat(next.state()).isEqualTo(LeaseState.LOST);
    assertThat(slot.takeOver(false)).isEmpty();
  }

  /** The broker's notice comes between the creation of the new lease and its start. */
  @Test
  void aLeaseThatIsRevokedBeforeItBeginsIsRegisteredNowhere() {
    take().close();
    BrokerGrant slot = offered.remove();
    HeldLease early = slot.lease(client.registry().nanos());
    slot.revoked();
    early.begin();
    assertThat(early.state()).isEqualTo(LeaseState.LOST);
    assertThat(client.registry().holdsAny(client.session())).isFalse();
    assertThat(client.session().hasLease(LOCK, slot.lease(0))).isFalse();
  }

  /** To be handed over proves nothing: the new lease is as certain as the old one was. */
  @Test
  void isAsCertainAsItsLastVerification() {
    HeldLease lease = take();
    client.pass(Duration.ofMillis(90));
    lease.close();
    HeldLease next = takeOver().orElseThrow();
    client.pass(Duration.ofMillis(17_409));
    assertThat(next.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofMillis(1));
    assertThat(next.state()).isEqualTo(LeaseState.UNCERTAIN);
  }
}
