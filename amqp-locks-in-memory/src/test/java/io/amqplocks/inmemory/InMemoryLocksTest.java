package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InMemoryLocksTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();
  private final AmqpLock mutex = locks.mutex("orders");

  @AfterEach
  void close() {
    locks.close();
  }

  @Test
  void aStrangerHoldsUntilItIsUndone() throws Exception {
    InMemoryLocks.Occupation stranger = locks.busy(mutex.id());
    assertThat(mutex.tryAcquire()).isEmpty();
    CompletableFuture<Lease> waiter = mutex.acquireAsync(LONG);
    assertThat(waiter).isNotDone();
    stranger.close();
    stranger.close();
    waiter.get(30, TimeUnit.SECONDS).close();
    assertThat(mutex.tryAcquire()).isPresent();
  }

  @Test
  void aLeaseIsLostForAnyReason() throws Exception {
    Lease lease = mutex.acquire(LONG);
    LossReason reason = new LossReason(LossReason.Cause.EXPIRED, "test");
    locks.lose(lease, reason);
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS)).isEqualTo(reason);
    assertThat(mutex.tryAcquire()).isPresent();
    InMemoryLocks others = InMemoryLocks.create();
    assertThatThrownBy(() -> others.lose(lease, reason))
        .isInstanceOf(IllegalArgumentException.class);
    others.close();
  }

  @Test
  void aLeaseIsUncertainAndBack() throws Exception {
    Lease lease = mutex.acquire(LONG);
    locks.uncertain(lease);
    assertThat(lease.verify()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(locks.status().uncertain()).isEqualTo(1);
    locks.certain(lease);
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    lease.close();
    locks.uncertain(lease);
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
  }

  @Test
  void anOutageLosesLeasesAndFailsCalls() throws Exception {
    Lease lease = mutex.acquire(LONG);
    locks.unavailable();
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.SESSION_ENDED));
    assertThat(locks.outage()).isPresent();
    assertThatThrownBy(mutex::tryAcquire).isInstanceOf(LockException.Unreachable.class);
    assertThatThrownBy(() -> mutex.failFast().acquire(LONG))
        .isInstanceOf(LockException.Unreachable.class);
    CompletableFuture<Lease> late = mutex.acquireAsync(Duration.ofSeconds(5));
    CompletableFuture<Lease> patient = mutex.acquireAsync(LONG);
    locks.advance(Duration.ofSeconds(6));
    assertThatThrownBy(() -> late.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.Unreachable.class);
    locks.available();
    patient.get(30, TimeUnit.SECONDS).close();
    assertThat(locks.outage()).isEmpty();
  }

  @Test
  void theFirstFailureIsThrownAtOnceIfNothingWasEverConnected() {
    locks.unavailable();
    assertThatThrownBy(() -> mutex.acquire(LONG)).isInstanceOf(LockException.Unreachable.class);
  }

  @Test
  void whatIsDueHappensInItsOrder() throws Exception {
    Lease lease = mutex.holdAtMost(Duration.ofSeconds(5)).acquire(LONG);
    CompletableFuture<Lease> early = mutex.acquireAsync(Duration.ofSeconds(3));
    CompletableFuture<Lease> late = mutex.acquireAsync(Duration.ofSeconds(8));
    locks.advance(Duration.ofSeconds(10));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThatThrownBy(() -> early.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.AcquireTimeout.class);
    assertThat(late.get(30, TimeUnit.SECONDS).state()).isEqualTo(LeaseState.HELD);
    assertThat(locks.history()).hasSize(2);
  }

  @Test
  void aWaiterForSeveralPermitsIsNotOvertaken() throws Exception {
    locks.admin().tokenSemaphore("images").create(2, TokenQueueType.QUORUM);
    AmqpLock images = locks.tokenSemaphore("images");
    Lease one = images.acquire(LONG);
    CompletableFuture<Lease> both = images.withPermits(2).acquireAsync(LONG);
    assertThat(images.tryAcquire()).isEmpty();
    one.close();
    both.get(30, TimeUnit.SECONDS).close();
  }

  @Test
  void aRemovedSlotIsNoticedByVerifying() throws Exception {
    locks.admin().slotSemaphore("files").create(1);
    Lease lease = locks.slotSemaphore("files").acquire(LONG);
    locks.admin().slotSemaphore("files").destroy();
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    assertThat(lease.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.SLOT_REMOVED);
  }

  @Test
  void aRenewedFenceGivesHigherTokens() throws Exception {
    Lease before = mutex.fenced().acquire(LONG);
    before.close();
    long epoch = locks.admin().fence(mutex.id()).renew(1);
    try (Lease after = mutex.fenced().acquire(LONG)) {
      assertThat(after.fencingToken().epoch()).isEqualTo(epoch);
      assertThat(after.fencingToken().isAfter(before.fencingToken())).isTrue();
    }
  }

  @Test
  void listenersRunOutsideTheMonitorOnTheLibrarysThread() throws Exception {
    Lease lease = mutex.acquire(LONG);
    CompletableFuture<String> ran = new CompletableFuture<>();
    var unused =
        lease
            .whenLost()
            .thenAccept(
                reason -> {
                  // Would block for ever if this thread or another one had the monitor.
                  locks.mutex("orders").tryAcquire().ifPresent(Lease::close);
                  ran.complete(Thread.currentThread().getName());
                });
    locks.lose(lease, new LossReason(LossReason.Cause.REVOKED, "test"));
    assertThat(ran.get(30, TimeUnit.SECONDS)).startsWith("amqp-locks-in-memory");
  }

  @Test
  void manyThreadsNeverHoldMoreThanThereAreSlots() throws Exception {
    InMemoryLocks real = InMemoryLocks.create();
    real.admin().tokenSemaphore("images").create(3, TokenQueueType.QUORUM);
    AmqpLock images = real.tokenSemaphore("images");
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(16);
    List<Future<?>> all = new ArrayList<>();
    for (int thread = 0; thread < 16; thread++) {
      all.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  int permits = 1 + ThreadLocalRandom.current().nextInt(2);
                  try (Lease lease = images.acquire(permits, LONG)) {
                    int now = inside.addAndGet(lease.permits());
                    most.accumulateAndGet(now, Math::max);
                    LockSupport.parkNanos(1000);
                    inside.addAndGet(-lease.permits());
                  }
                  CompletableFuture<Lease> withdrawn = images.acquireAsync(LONG);
                  if (!withdrawn.cancel(true)) {
                    // It was too late, and the lease is the caller's.
                    withdrawn.join().close();
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      Object unused = each.get(60, TimeUnit.SECONDS);
    }
    threads.shutdown();
    assertThat(most.get()).isBetween(1, 3);
    assertThat(real.mostHeldAtOnce(images.id())).isEqualTo(3);
    await().until(() -> real.leases().isEmpty() && real.waiting().isEmpty());
    real.close();
  }
}
