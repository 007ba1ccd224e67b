package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.lease.ReleaseListener;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which of a process's leases may take over a token, under a clock that stands still. */
@BrokerTest(everyLine = true)
class TokenHoldTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  private final List<BrokerGrant> offered = new ArrayList<>();
  private final ReleaseListener nobodyWaits =
      new ReleaseListener() {
        @Override
        public void freed(LockId lock, Session session) {}

        @Override
        public boolean offer(BrokerGrant slot) {
          offered.add(slot);
          return false;
        }
      };
  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private TokenQueueRef queue;
  private @Nullable Hold hold;

  @BeforeEach
  void open(Broker broker) throws Exception {
    client = new ClockedClient(broker, Duration.ofSeconds(10), nobodyWaits, LockListener.NO_OP);
    fixture.open().admin().tokenSemaphore("s").create(2, TokenQueueType.QUORUM);
    int generation = Tokens.generation(broker, fixture.names(), ID);
    queue = new TokenQueueRef(fixture.names().tokens(ID, generation), TokenQueueType.QUORUM, false);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
  }

  private HeldLease take(boolean fenced) {
    return take(new TokenContest(ID, queue, fenced));
  }

  /** What another lease gave back may still be on its way. */
  private HeldLease take(Hold.Contest contest) {
    return await()
        .until(
            () -> client.registry().take(client.call(ID), client.session(), contest),
            Optional::isPresent)
        .orElseThrow();
  }

  private BrokerGrant offeredAtCloseOf(HeldLease lease) {
    offered.clear();
    lease.close();
    assertThat(offered).hasSize(1);
    return offered.get(0);
  }

  @Test
  void aFencedHoldIsForAll() {
    BrokerGrant slot = offeredAtCloseOf(take(true));
    assertThat(slot.mayBeHandedTo(true)).isTrue();
    assertThat(slot.mayBeHandedTo(false)).isTrue();
  }

  @Test
  void anotherOneIsForThoseThatNeedNotStayInTheirSlot() {
    BrokerGrant slot = offeredAtCloseOf(take(false));
    assertThat(slot.mayBeHandedTo(true)).isFalse();
    assertThat(slot.mayBeHandedTo(false)).isTrue();
  }

  /** A token is verified by coming back, which proves as much as a reply does. */
  @Test
  void oneThatHangsCostsNoOther() {
    HeldLease lease = take(false);
    HeldLease other = take(false);
    for (int i = 0; i < 4; i++) {
      client.pass(Duration.ofSeconds(10));
      verified(lease);
      verified(other);
    }
    client.pass(Duration.ofSeconds(20));
    verified(other);
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(other.state()).isEqualTo(LeaseState.HELD);
  }

  /** On a busy machine one verification may prove nothing. */
  private static void verified(HeldLease lease) {
    await().until(() -> lease.verify() == LeaseState.HELD);
  }

  /** Something else may come in its place, and it may be another client's then. */
  @Test
  void oneThatIsUnderWayIsNotOffered() {
    HeldLease lease =
        take(
            DelegatingHold.contest(
                new TokenContest(ID, queue, false),
                won ->
                    new DelegatingHold(won) {
                      @Override
                      public boolean isUnderWay() {
                        return true;
                      }
                    }));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    lease.close();
    assertThat(offered).isEmpty();
  }

  /** Its number is the other slot's, and superseded as soon as that slot is acquired. */
  @Test
  void oneThatMovedToAnotherSlotIsForNobody() {
    BrokerGrant slot = offeredAtCloseOf(moved());
    assertThat(slot.mayBeHandedTo(true)).isFalse();
    assertThat(slot.mayBeHandedTo(false)).isFalse();
  }

  /** It is after all that were given out for that slot, and before all that will be. */
  @Test
  void oneThatMovedCanHaveTheNumberOfItsNewSlot() throws InterruptedException {
    Map<Integer, FencingToken> before = numbersOfBothSlots();
    HeldLease lease = moved();
    HeldLease other = take(true);
    // Only its own token can come back.
    verified(lease);
    verified(lease);
    Hold moved = Objects.requireNonNull(hold);
    moved.renumber();
    FencingToken number = lease.fencingToken();
    assertThat(number.slot()).isEqualTo(lease.slot());
    assertThat(number.isAfter(Objects.requireNonNull(before.get(number.slot())))).isTrue();
    assertThat(moved.mayBeHandedTo(false)).isTrue();
    verified(lease);
    assertThat(lease.fencingToken()).isEqualTo(number);
    lease.close();
    other.close();
    FencingToken after = Objects.requireNonNull(numbersOfBothSlots().get(number.slot()));
    assertThat(after.isAfter(number)).isTrue();
  }

  private Map<Integer, FencingToken> numbersOfBothSlots() throws InterruptedException {
    AmqpLock others = fixture.open().tokenSemaphore("s").fenced();
    try (Lease first = others.acquire(Duration.ofSeconds(30));
        Lease second = others.acquire(Duration.ofSeconds(30))) {
      return Map.of(first.slot(), first.fencingToken(), second.slot(), second.fencingToken());
    }
  }

  /** A lease whose token went to the other slot when it was verified. */
  private HeldLease moved() {
    HeldLease lease =
        take(
            DelegatingHold.contest(
                new TokenContest(ID, queue, false),
                won -> {
                  hold = won;
                  return won;
                }));
    int first = lease.slot();
    for (int i = 0; i < 100 && lease.slot() == first; i++) {
      verified(lease);
    }
    assertThat(lease.slot()).isNotEqualTo(first);
    assertThat(lease.fencingToken().slot()).isEqualTo(first);
    return lease;
  }
}
