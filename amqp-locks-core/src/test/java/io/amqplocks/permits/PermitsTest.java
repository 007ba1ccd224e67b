package io.amqplocks.permits;

import static io.amqplocks.support.SemaphoreKind.assertNoneIsFreeFor;
import static io.amqplocks.support.SemaphoreKind.awaitCollected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.support.SemaphoreKind;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several permits are one lease: all or none, at every end that a call or a lease may come to. */
@BrokerTest(everyLine = true)
@Order(1) // of the longest
class PermitsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks mine;
  private AmqpLocks theirs;

  @BeforeEach
  void open() {
    mine = fixture.open();
    theirs = fixture.open();
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  /** All slots are free: whoever asks gets all at once. What a release sends may be on its way. */
  private static void assertAllFree(AmqpLock semaphore, int slots) {
    await()
        .until(() -> semaphore.withPermits(slots).tryAcquire(), Optional::isPresent)
        .orElseThrow()
        .close();
  }

  private static List<Lease> acquire(AmqpLock semaphore, int leases) throws Exception {
    List<Lease> held = new ArrayList<>();
    for (int i = 0; i < leases; i++) {
      held.add(semaphore.acquire(LONG));
    }
    return held;
  }

  @ParameterizedTest
  @EnumSource
  void allOfThemOrNone(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 5);
    AmqpLock other = kind.of(theirs, "s");
    Lease three = Fixture.first(semaphore.withPermits(3));
    assertThat(three.permits()).isEqualTo(3);
    assertThat(three.verify()).isEqualTo(LeaseState.HELD);
    assertThat(other.withPermits(3).tryAcquire()).as("two are free").isEmpty();
    try (Lease two = other.acquire(2, LONG)) {
      assertThat(two.verify()).isEqualTo(LeaseState.HELD);
      assertThat(semaphore.tryAcquire()).isEmpty();
    }
    three.close();
    three.close();
    assertThat(three.state()).isEqualTo(LeaseState.RELEASED);
    assertAllFree(other, 5);
  }

  /** The user hears of one lease. What it is composed of is not a lock of the user's. */
  @ParameterizedTest
  @EnumSource
  void itIsOneLeaseToAllWhoWatch(SemaphoreKind kind) throws Exception {
    Recorder heard = new Recorder();
    AmqpLocks watched = fixture.open(fixture.builder().listener(heard));
    AmqpLock semaphore = kind.create(fixture, watched, "s", 3);
    Lease one = semaphore.acquire(LONG);
    CompletableFuture<Lease> waiting = semaphore.withPermits(3).acquireAsync(LONG);
    awaitCollected(fixture, kind.of(mine, "s"));
    assertThat(watched.leases()).hasSize(1);
    assertThat(watched.waiting()).isEqualTo(Map.of(semaphore.id(), 1));
    assertThat(watched.status().waiting()).isEqualTo(1);
    one.close();
    Lease three = waiting.get(60, TimeUnit.SECONDS);
    assertThat(watched.leases())
        .singleElement()
        .extracting(LeaseSnapshot::permits, LeaseSnapshot::state)
        .containsExactly(3, LeaseState.HELD);
    assertThat(watched.waiting()).isEmpty();
    three.close();
    assertThat(watched.leases()).isEmpty();
    String id = semaphore.id().toString();
    await()
        .untilAsserted(
            () ->
                assertThat(heard.heard.stream().filter(each -> !each.startsWith("BUSY")))
                    .containsExactly(
                        "session opened",
                        "acquired " + id,
                        "released " + id,
                        "acquired " + id,
                        "released " + id));
  }

  /** It keeps what it has, and gets what others release, whoever else wants it. */
  @ParameterizedTest
  @EnumSource
  void aWaiterCollectsWhatOthersRelease(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 3);
    Future<Lease> waiting = threads.submit(() -> kind.of(theirs, "s").acquire(4, LONG));
    for (Lease each : held) {
      awaitCollected(fixture, semaphore);
      assertNoneIsFreeFor(semaphore, Duration.ofMillis(200));
      assertThat(waiting).isNotDone();
      each.close();
    }
    try (Lease all = waiting.get(60, TimeUnit.SECONDS)) {
      assertThat(all.permits()).isEqualTo(4);
      assertThat(semaphore.tryAcquire()).isEmpty();
    }
    assertAllFree(semaphore, 4);
  }

  @ParameterizedTest
  @EnumSource
  void aTimeoutGivesAllBack(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 2);
    Future<Lease> waiting =
        threads.submit(() -> kind.of(theirs, "s").acquire(3, Duration.ofSeconds(12)));
    awaitCollected(fixture, semaphore);
    assertThat(waiting).as("has two of three").isNotDone();
    assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining("Fewer than 3 slots of " + semaphore.id());
    assertAllFree(semaphore, 2);
    held.forEach(Lease::close);
    assertAllFree(semaphore, 4);
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptGivesAllBack(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 2);
    CompletableFuture<Object> end = new CompletableFuture<>();
    Thread waiting =
        new Thread(
            () -> {
              try {
                end.complete(kind.of(theirs, "s").acquire(3, LONG));
              } catch (InterruptedException | RuntimeException e) {
                end.complete(e);
              }
            });
    waiting.start();
    awaitCollected(fixture, semaphore);
    waiting.interrupt();
    assertThat(end.get(60, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    assertAllFree(semaphore, 2);
    held.forEach(Lease::close);
  }

  @ParameterizedTest
  @EnumSource
  void aCancelledFutureGivesAllBack(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 2);
    CompletableFuture<Lease> waiting = kind.of(theirs, "s").withPermits(3).acquireAsync(LONG);
    awaitCollected(fixture, semaphore);
    waiting.cancel(true);
    assertAllFree(semaphore, 2);
    held.forEach(Lease::close);
  }

  /** The next call of this process gets on with what the first one of them had. */
  @ParameterizedTest
  @EnumSource
  void whatALeavingWaiterHadIsForTheNext(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    // By itself it would look after five seconds. A machine that stalls is late now and then.
    Duration soonest = LONG;
    for (int i = 0; i < 3 && soonest.toSeconds() >= 2; i++) {
      Duration took = theNextGoesOnAfter(kind, semaphore);
      soonest = took.compareTo(soonest) < 0 ? took : soonest;
    }
    assertThat(soonest).isLessThan(Duration.ofSeconds(2));
  }

  private Duration theNextGoesOnAfter(SemaphoreKind kind, AmqpLock semaphore) throws Exception {
    List<Lease> held = acquire(semaphore, 2);
    AmqpLock other = kind.of(theirs, "s");
    CompletableFuture<Lease> first = other.withPermits(3).acquireAsync(LONG);
    awaitCollected(fixture, semaphore);
    CompletableFuture<Lease> next = other.withPermits(3).acquireAsync(LONG);
    await().until(() -> theirs.status().waiting() == 2);
    first.cancel(true);
    assertNoneIsFreeFor(semaphore, Duration.ofMillis(500));
    long freed = System.nanoTime();
    held.remove(0).close();
    Lease got = next.get(60, TimeUnit.SECONDS);
    Duration took = Duration.ofNanos(System.nanoTime() - freed);
    got.close();
    held.forEach(Lease::close);
    assertAllFree(semaphore, 4);
    return took;
  }

  @ParameterizedTest
  @EnumSource
  void closingTheClientGivesBackWhatItsWaitersHad(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 1);
    CompletableFuture<Lease> waiting = kind.of(theirs, "s").withPermits(4).acquireAsync(LONG);
    awaitCollected(fixture, semaphore);
    theirs.close();
    assertThatThrownBy(() -> waiting.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(LockException.Closed.class);
    assertAllFree(semaphore, 3);
    held.forEach(Lease::close);
  }

  @ParameterizedTest
  @EnumSource
  void aCallForMoreThanExistIsRefused(SemaphoreKind kind) {
    AmqpLock six = kind.create(fixture, mine, "s", 5).withPermits(6);
    assertThatThrownBy(six::tryAcquire)
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("6 permits of " + six.id())
        .hasMessageContaining("it has 5 slots")
        .hasMessageContaining("resize(6)");
    assertThatThrownBy(() -> six.acquire(LONG)).isInstanceOf(LockException.Conflict.class);
    assertAllFree(kind.of(mine, "s"), 5);
  }

  /** A number of slots that is changed while a call waits counts for that call. */
  @ParameterizedTest
  @EnumSource
  void aWaiterIsToldThatSlotsWereRemoved(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 4);
    List<Lease> held = acquire(semaphore, 2);
    Future<Lease> waiting = threads.submit(() -> kind.of(theirs, "s").acquire(3, LONG));
    awaitCollected(fixture, semaphore);
    SlotChange unused = kind.admin(mine, "s").resize(2);
    assertThatThrownBy(() -> waiting.get(50, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(LockException.Conflict.class);
    held.forEach(Lease::close);
    assertAllFree(semaphore, 2);
  }

  @Test
  void aMutexHasOnePermitAndNobodyAsksForNone() {
    assertThat(mine.mutex("m").withPermits(1).id()).isEqualTo(mine.mutex("m").id());
    assertThatThrownBy(() -> mine.mutex("m").withPermits(2))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("a semaphore can have more");
    assertThatThrownBy(() -> mine.fencedMutex("m").withPermits(2))
        .isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> mine.tokenSemaphore("s").withPermits(0))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("use 1 or more");
    AmqpLock most = mine.tokenSemaphore("s").withPermits(AmqpLock.MAX_PERMITS);
    assertThatThrownBy(() -> most.withPermits(101))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("101 permits of " + most.id())
        .hasMessageContaining("use 100 or fewer");
  }

  /** Its holder is told once, and the others are free although nobody closes the lease. */
  @ParameterizedTest
  @EnumSource
  void revokingItReleasesAll(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 3);
    Lease three = semaphore.acquire(3, LONG);
    assertThat(mine.revoke(semaphore.id(), "for a test")).isEqualTo(1);
    assertThat(three.state()).isEqualTo(LeaseState.LOST);
    assertThat(three.lossReason().orElseThrow().detail()).isEqualTo("for a test");
    assertAllFree(kind.of(theirs, "s"), 3);
    three.close();
    assertAllFree(semaphore, 3);
  }

  /** Each permit has the token of its slot. */
  @ParameterizedTest
  @EnumSource(names = {"QUORUM_TOKENS", "SLOTS"})
  void eachPermitHasAFencingToken(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, mine, "s", 3).fenced();
    List<FencingToken> first;
    try (Lease lease = semaphore.acquire(3, LONG)) {
      first = lease.fencingTokens();
      assertThat(lease.fencingToken()).isEqualTo(first.get(0));
      assertThat(lease.slot()).isEqualTo(first.get(0).slot());
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    assertThat(first).extracting(FencingToken::slot).containsExactlyInAnyOrder(1, 2, 3);
    try (Lease lease = semaphore.acquire(3, LONG)) {
      for (FencingToken token : lease.fencingTokens()) {
        assertThat(first)
            .filteredOn(before -> before.slot() == token.slot())
            .singleElement()
            .matches(token::isAfter);
      }
    }
  }
}
