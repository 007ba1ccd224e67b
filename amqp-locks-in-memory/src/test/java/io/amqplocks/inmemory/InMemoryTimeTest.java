package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InMemoryTimeTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();
  private final AmqpLock mutex = locks.mutex("orders");

  @AfterEach
  void close() {
    locks.close();
  }

  private static Lease get(CompletableFuture<Lease> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  @Test
  void whatIsDueHappensInItsOrder() throws Exception {
    Lease lease = mutex.holdAtMost(Duration.ofSeconds(5)).acquire(LONG);
    CompletableFuture<Lease> early = mutex.acquireAsync(Duration.ofSeconds(3));
    CompletableFuture<Lease> late = mutex.acquireAsync(Duration.ofSeconds(8));
    locks.advance(Duration.ofSeconds(10));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThatThrownBy(() -> get(early)).hasCauseInstanceOf(LockException.AcquireTimeout.class);
    assertThat(get(late).state()).isEqualTo(LeaseState.HELD);
    assertThat(locks.history()).hasSize(2);
  }

  @Test
  void whatIsDueHappensAtItsTime() throws Exception {
    AmqpLock limited = mutex.holdAtMost(Duration.ofSeconds(5));
    List<CompletableFuture<Lease>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(limited.acquireAsync(LONG));
    }
    locks.advance(Duration.ofSeconds(11));
    Lease first = get(all.get(0));
    Lease second = get(all.get(1));
    Lease third = get(all.get(2));
    assertThat(List.of(first, second)).allMatch(lease -> lease.state() == LeaseState.LOST);
    assertThat(third.state()).isEqualTo(LeaseState.HELD);
    assertThat(List.of(first.age(), second.age(), third.age()))
        .containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(1));
    Instant start = locks.history().get(0).at();
    assertThat(locks.history())
        .extracting(acquisition -> Duration.between(start, acquisition.at()))
        .containsExactly(Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(10));
    assertThat(locks.status().lastLossAt().orElseThrow())
        .isBetween(start.plusMillis(9_999), start.plusSeconds(10));
  }

  @Test
  void noJumpBreaksTheLocks() throws Exception {
    Lease before = mutex.fenced().acquire(FOREVER);
    CompletableFuture<Lease> patient = mutex.fenced().acquireAsync(FOREVER);
    for (int i = 0; i < 4; i++) {
      locks.advance(FOREVER);
    }
    assertThat(locks.waiting()).containsEntry(mutex.id(), 1);
    assertThat(before.state()).isEqualTo(LeaseState.HELD);
    before.close();
    try (Lease after = get(patient)) {
      assertThat(after.fencingToken().isAfter(before.fencingToken())).isTrue();
    }
    Lease other = locks.fencedMutex("new").acquire(LONG);
    assertThat(other.fencingToken().epoch()).isLessThan(FencingToken.MAX_EPOCH);
  }

  @Test
  void whoHasContendedForLongestLeadsNextHoweverLongThatIs() throws Exception {
    try (LeaderElection first = LeaderElection.on(mutex).build();
        LeaderElection second = LeaderElection.on(mutex).build();
        LeaderElection third = LeaderElection.on(mutex).build()) {
      first.start();
      assertThat(first.awaitLeadership(LONG)).isPresent();
      second.start();
      await().until(() -> locks.waiting().getOrDefault(mutex.id(), 0) == 1);
      locks.advance(Duration.ofMinutes(30));
      third.start();
      await().until(() -> locks.waiting().getOrDefault(mutex.id(), 0) == 2);
      locks.advance(Duration.ofMinutes(31));
      first.close();
      assertThat(second.awaitLeadership(LONG)).isPresent();
      assertThat(third.isLeader()).isFalse();
    }
  }

  @Test
  void timeDoesNotGoBack() {
    assertThatThrownBy(() -> locks.advance(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Time cannot go back by PT-1S; use zero or more");
  }

  @Test
  void alarmsFollowTheJumpsOfRealTime() throws Exception {
    try (InMemoryLocks real = InMemoryLocks.create()) {
      Lease lease = real.mutex("orders").holdAtMost(Duration.ofHours(1)).acquire(LONG);
      real.advance(Duration.ofHours(1).minusMillis(300));
      assertThat(lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS).cause())
          .isEqualTo(LossReason.Cause.HOLD_LIMIT);
    }
  }

  @Test
  void locksThatNobodyClosesLeaveNoTimerBehind() throws Exception {
    List<Thread> before = timers();
    InMemoryLocks unclosed = InMemoryLocks.create();
    AmqpLock limited = unclosed.mutex("orders").holdAtMost(Duration.ofHours(1));
    List<Thread> begun;
    try (Lease lease = limited.acquire(LONG)) {
      assertThat(lease.state()).isEqualTo(LeaseState.HELD);
      begun = timers().stream().filter(timer -> !before.contains(timer)).toList();
    }
    assertThat(begun).isNotEmpty();
    // Those that other tests began just then end too.
    await().atMost(LONG).until(() -> begun.stream().noneMatch(Thread::isAlive));
  }

  private static List<Thread> timers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("amqp-locks-in-memory-timer"))
        .toList();
  }
}
