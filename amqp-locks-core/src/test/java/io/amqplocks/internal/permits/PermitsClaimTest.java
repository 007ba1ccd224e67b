package io.amqplocks.internal.permits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.exclusive.ExclusiveQueueHold;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHold;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a call keeps while it collects slots that are slow, silent, in doubt or moved. */
@BrokerTest
class PermitsClaimTest {

  private static final LockId LOCK = LockId.slotSemaphore("s");

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;
  private PermitsClaim claim;
  private UnaryOperator<Hold> wrapped = real -> real;
  private Duration duration = Duration.ZERO;
  private boolean silent;
  private int free = Integer.MAX_VALUE;
  private int taken;
  private boolean doubt;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(10));
    Claim turns =
        (call, session) ->
            client
                .registry()
                .take(call, session, ExclusiveQueueHold.contest(LOCK, 1, turn(), null));
    claim =
        new PermitsClaim(
            3,
            this::nextSlot,
            () -> turns,
            (call, session) -> OptionalInt.empty(),
            client.registry());
  }

  @AfterEach
  void close() {
    client.close();
  }

  private String turn() {
    return fixture.prefix() + "turn";
  }

  private String queue(int slot) {
    return fixture.prefix() + "b." + slot;
  }

  private Optional<HeldLease> nextSlot(Call call, Session session) {
    client.pass(duration);
    if (silent || call.remainingNanos() == 0) {
      throw call.unanswered("take a slot");
    }
    if (taken == free) {
      return Optional.empty();
    }
    int slot = ++taken;
    return client
        .registry()
        .take(
            call,
            session,
            DelegatingHold.contest(
                ExclusiveQueueHold.contest(LOCK, slot, queue(slot), null), wrapped));
  }

  /** A subscription that has the turn and what it found, and not all that it wants. */
  private Subscription collecting() throws Exception {
    Subscription waiting = claim.subscribe(client.call(LOCK), client.session(), () -> {});
    assertThat(waiting.attempt(client.call(LOCK))).as("not its turn yet").isEmpty();
    assertThat(waiting.attempt(client.call(LOCK))).as("its turn").isEmpty();
    assertKept(waiting);
    return waiting;
  }

  private void assertKept(Subscription waiting) throws Exception {
    assertThat(waiting.isOver()).isFalse();
    assertThat(fixture.exists(turn())).isTrue();
    for (int slot = 1; slot <= taken; slot++) {
      assertThat(fixture.exists(queue(slot))).as("slot " + slot).isTrue();
    }
  }

  private void assertComplete(Subscription waiting) {
    HeldLease lease = waiting.attempt(client.call(LOCK)).orElseThrow();
    assertThat(lease.permits()).isEqualTo(3);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    assertThat(waiting.isOver()).isTrue();
    assertThat(waiting.failure()).isEmpty();
    waiting.close();
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    lease.close();
  }

  /** Three slots at a second and a half each do not fit in half of the five seconds of a call. */
  @Test
  void aCallThatWaitsLeavesHalfOfItsTimeForTheSubscription() throws Exception {
    duration = Duration.ofMillis(1500);
    Call call = client.call(LOCK);
    assertThat(claim.attemptBeforeWaiting(call, client.session())).isEmpty();
    assertThat(Duration.ofNanos(call.remainingNanos())).isEqualTo(Duration.ofSeconds(2));
    await().until(() -> !fixture.exists(queue(1)));
    taken = 0;
    assertComplete(collecting());
  }

  /** A call that does not wait is not told that all slots are held if nobody knows. */
  @Test
  void aCallThatTriesSaysThatThereWasNoAnswer() {
    silent = true;
    assertThatThrownBy(() -> claim.attempt(client.call(LOCK), client.session()))
        .isInstanceOf(LockException.Unanswered.class);
  }

  @Test
  void aSlotThatGivesNoAnswerCostsNoneOfTheOthers() throws Exception {
    free = 2;
    Subscription waiting = collecting();
    silent = true;
    for (int i = 0; i < 2; i++) {
      assertThat(waiting.attempt(client.call(LOCK))).isEmpty();
      assertThat(waiting.failure()).containsInstanceOf(LockException.Unanswered.class);
      assertKept(waiting);
    }
    silent = false;
    free = 3;
    assertComplete(waiting);
  }

  @Test
  void aSlotInDoubtIsWaitedForWithAllOthers() throws Exception {
    wrapped =
        real ->
            new DelegatingHold(real) {
              @Override
              public boolean isInDoubt() {
                return doubt && slot() == 2;
              }
            };
    free = 2;
    Subscription waiting = collecting();
    doubt = true;
    free = 3;
    assertThat(waiting.attempt(client.call(LOCK))).isEmpty();
    assertKept(waiting);
    assertThat(Duration.ofNanos(waiting.pauseNanos())).isLessThan(Duration.ofSeconds(1));
    doubt = false;
    assertComplete(waiting);
    assertThat(taken).as("nothing was collected twice").isEqualTo(3);
  }

  /** It is back after a round trip. */
  @Test
  void aTryIsNotBusyBecauseASlotIsBeingVerified() {
    AtomicInteger looks = new AtomicInteger();
    wrapped =
        real ->
            new DelegatingHold(real) {
              @Override
              public boolean isUnderWay() {
                return slot() == 2 && looks.incrementAndGet() <= 2;
              }
            };
    free = 3;
    Optional<HeldLease> lease = claim.attempt(client.call(LOCK), client.session());
    assertThat(lease).map(HeldLease::permits).contains(3);
    assertThat(looks).hasValueGreaterThan(2);
  }

  /** Else the call would end as if the semaphore were busy, and one that fails fast not at all. */
  @Test
  void whatTheWaitForASlotCannotTellIsReported() throws Exception {
    LockException.Unanswered silence = client.call(LOCK).unanswered("look at the queue");
    AtomicReference<Optional<LockException>> failure = new AtomicReference<>(Optional.of(silence));
    Claim slots =
        new Claim() {
          @Override
          public Optional<HeldLease> attempt(Call call, Session session) {
            return nextSlot(call, session);
          }

          @Override
          public Subscription subscribe(Call call, Session session, Runnable wake) {
            Subscription real = Claim.super.subscribe(call, session, wake);
            return new Subscription() {
              @Override
              public Optional<HeldLease> attempt(Call next) {
                return real.attempt(next);
              }

              @Override
              public Optional<LockException> failure() {
                return failure.get();
              }

              @Override
              public boolean isOver() {
                return real.isOver();
              }

              @Override
              public long pauseNanos() {
                return real.pauseNanos();
              }

              @Override
              public void close() {
                real.close();
              }
            };
          }
        };
    claim = new PermitsClaim(3, slots, claim.turns(), claim.count(), client.registry());
    free = 2;
    Subscription waiting = collecting();
    assertThat(waiting.failure()).contains(silence);
    failure.set(Optional.empty());
    assertThat(waiting.attempt(client.call(LOCK))).isEmpty();
    assertThat(waiting.failure()).isEmpty();
    failure.set(Optional.of(silence));
    free = 3;
    assertComplete(waiting);
  }

  /** Their own fencing tokens were superseded meanwhile, and nobody was told them. */
  @Test
  void slotsThatMovedAreKeptAndTheLeaseHasTheirNewNumbers() throws Exception {
    Map<Integer, FencingToken> last = new HashMap<>();
    wrapped =
        real ->
            new DelegatingHold(real) {
              private FencingToken number = new FencingToken(slot(), 29_922_510, 7);

              // It has just moved, the first eight times that somebody looks.
              @Override
              public boolean isUnderWay() {
                long moves = Optional.ofNullable(last.get(slot())).map(FencingToken::n).orElse(0L);
                last.put(slot(), new FencingToken(slot() + 3, 29_922_510, Math.min(8, moves + 1)));
                return false;
              }

              @Override
              public Optional<FencingToken> tokenIfAny() {
                return Optional.of(number);
              }

              @Override
              public void renumber() {
                number = Objects.requireNonNull(last.get(slot()));
              }
            };
    free = 2;
    Subscription waiting = collecting();
    assertThat(waiting.attempt(client.call(LOCK))).isEmpty();
    assertKept(waiting);
    free = 3;
    HeldLease lease = waiting.attempt(client.call(LOCK)).orElseThrow();
    assertThat(taken).as("nothing was collected twice").isEqualTo(3);
    assertThat(lease.fencingTokens()).hasSize(3).containsExactlyInAnyOrderElementsOf(last.values());
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    lease.close();
  }
}
