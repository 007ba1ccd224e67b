package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
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
    assertThat(stranger).hasToString("another holder of the mutex 'orders'");
    assertThat(mutex.tryAcquire()).isEmpty();
    CompletableFuture<Lease> waiter = mutex.acquireAsync(LONG);
    assertThat(locks.waiting()).containsEntry(mutex.id(), 1);
    assertThat(locks.leases()).isEmpty();
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
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("use its lock instead of it, the mutex 'orders'");
    others.close();
  }

  /** As a test does of an annotated method, whose lease it does not have. */
  @Test
  void allLeasesOfALockAreUncertainOrLost() throws Exception {
    locks.admin().tokenSemaphore("images").create(2, TokenQueueType.QUORUM);
    AmqpLock images = locks.tokenSemaphore("images");
    List<Lease> leases = List.of(images.acquire(LONG), images.acquire(LONG));
    Lease other = mutex.acquire(LONG);
    assertThat(locks.uncertain(images.id())).isEqualTo(2);
    assertThat(leases).allMatch(lease -> lease.verify() == LeaseState.UNCERTAIN);
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    assertThat(locks.certain(images.id())).isEqualTo(2);
    assertThat(leases).allMatch(lease -> lease.state() == LeaseState.HELD);
    LossReason reason = new LossReason(LossReason.Cause.EXPIRED, "test");
    assertThat(locks.lose(images.id(), reason)).isEqualTo(2);
    assertThat(leases)
        .allMatch(lease -> lease.state() == LeaseState.LOST)
        .allMatch(lease -> lease.lossReason().orElseThrow().equals(reason));
    assertThat(other.state()).isEqualTo(LeaseState.HELD);
    assertThat(locks.lose(images.id(), reason)).isZero();
    assertThat(locks.uncertain(images.id())).isZero();
    other.close();
  }

  @Test
  void theHistorySaysWhoCalled() throws Exception {
    Lease first = mutex.tryAcquire().orElseThrow();
    CompletableFuture<CompletableFuture<Lease>> waiter = new CompletableFuture<>();
    new Thread(() -> waiter.complete(mutex.acquireAsync(LONG)), "a waiter").start();
    CompletableFuture<Lease> second = waiter.get(30, TimeUnit.SECONDS);
    // On this thread, which gives the slot to the other.
    first.close();
    second.get(30, TimeUnit.SECONDS).close();
    mutex.acquire(LONG).close();
    String here = Thread.currentThread().getName();
    assertThat(locks.history())
        .extracting(Acquisition::thread)
        .containsExactly(here, "a waiter", here);
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
    List<Lease> leases = List.of(mutex.acquire(LONG), locks.fencedMutex("other").acquire(LONG));
    locks.unavailable();
    assertThat(leases)
        .allSatisfy(
            lease ->
                assertThat(lease.lossReason().orElseThrow().cause())
                    .isEqualTo(LossReason.Cause.SESSION_ENDED));
    assertThat(locks.leases()).isEmpty();
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
  void whoStopsWaitingForSeveralLetsTheNextHaveOne() throws Exception {
    locks.admin().tokenSemaphore("images").create(2, TokenQueueType.QUORUM);
    AmqpLock images = locks.tokenSemaphore("images");
    Lease one = images.acquire(LONG);
    CompletableFuture<Lease> both = images.withPermits(2).acquireAsync(LONG);
    CompletableFuture<Lease> next = images.acquireAsync(LONG);
    assertThat(locks.leases()).hasSize(1);
    assertThat(both.cancel(false)).isTrue();
    next.get(30, TimeUnit.SECONDS).close();
    one.close();
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
  void theLowestPriorityIsServedLast() throws Exception {
    AmqpLock lock = locks.fencedMutex("orders");
    Lease first = lock.acquire(LONG);
    CompletableFuture<Lease> lowest = lock.withPriority(-AmqpLock.MAX_PRIORITY).acquireAsync(LONG);
    CompletableFuture<Lease> plain = lock.acquireAsync(LONG);
    first.close();
    plain.get(30, TimeUnit.SECONDS).close();
    lowest.get(30, TimeUnit.SECONDS).close();
  }

  @Test
  void aStrangerCanHaveAFencedMutexThatNobodyUsedBefore() throws Exception {
    AmqpLock lock = locks.fencedMutex("orders");
    try (InMemoryLocks.Occupation stranger = locks.busy(lock.id())) {
      assertThat(stranger).isNotNull();
      assertThat(locks.admin().fencedMutex("orders").inUse()).isEqualTo(1);
      assertThat(lock.tryAcquire()).isEmpty();
    }
    assertThat(lock.tryAcquire()).isPresent();
  }

  @Test
  void anOutageEndsTheWaitOfCallsThatFailFast() throws Exception {
    Lease lease = mutex.acquire(LONG);
    CompletableFuture<Lease> fast = mutex.failFast().acquireAsync(LONG);
    CompletableFuture<Lease> patient = mutex.acquireAsync(LONG);
    locks.unavailable();
    assertThat(locks.waiting()).containsEntry(mutex.id(), 1);
    assertThatThrownBy(() -> fast.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.Unreachable.class);
    locks.available();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    patient.get(30, TimeUnit.SECONDS).close();
  }

  @Test
  void theCloseWaitsForHolders() throws Exception {
    Lease lease = mutex.acquire(LONG);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(() -> locks.close(LONG));
    await()
        .untilAsserted(
            () -> assertThatThrownBy(mutex::tryAcquire).isInstanceOf(LockException.Closed.class));
    await()
        .during(Duration.ofMillis(100))
        .until(() -> !closed.isDone() && lease.state() == LeaseState.HELD);
    lease.close();
    Object unused = closed.get(20, TimeUnit.SECONDS);
  }

  @Test
  void theCloseReleasesWhatIsHeldTooLong() throws Exception {
    Lease lease = mutex.acquire(LONG);
    locks.close(Duration.ofMillis(100));
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThat(locks.leases()).isEmpty();
  }

  @Test
  void anInterruptEndsABlockedWait() throws Exception {
    Lease lease = mutex.acquire(LONG);
    CompletableFuture<Exception> failure = new CompletableFuture<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                mutex.acquire(LONG).close();
              } catch (InterruptedException | RuntimeException e) {
                failure.complete(e);
              }
            });
    waiter.start();
    await().until(() -> locks.waiting().containsKey(mutex.id()));
    waiter.interrupt();
    assertThat(failure.get(30, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
    assertThat(locks.waiting()).isEmpty();
    lease.close();
    assertThat(mutex.tryAcquire()).isPresent();
  }

  /** Both readers are granted at once, and the test holds up the news of that. */
  @Test
  void aLeaseThatComesToAnInterruptedThreadIsGivenBack() throws Exception {
    LockTable table = new LockTable(new Time(true), new Notices(List.of(), List.of()));
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch granted = new CountDownLatch(1);
    Executor slow =
        task -> {
          granted.countDown();
          try {
            boolean unused = interrupted.await(30, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          task.run();
        };
    InMemoryLock readLock = new InMemoryLock(LockId.readLock("prices"), Request.PLAIN, table, slow);
    Lease writer =
        new InMemoryLock(LockId.writeLock("prices"), Request.PLAIN, table, slow).acquire(LONG);
    CompletableFuture<Lease> first = readLock.acquireAsync(LONG);
    FutureTask<Lease> second = new FutureTask<>(() -> readLock.acquire(LONG));
    Thread reader = new Thread(second);
    reader.start();
    await().until(() -> table.waiting().getOrDefault(readLock.id(), 0) == 2);
    Thread release = new Thread(writer::close);
    release.start();
    assertThat(granted.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(table.leases()).hasSize(2);
    reader.interrupt();
    assertThatThrownBy(() -> second.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
    interrupted.countDown();
    Lease other = first.get(30, TimeUnit.SECONDS);
    await().untilAsserted(() -> assertThat(table.leases()).containsExactly((InMemoryLease) other));
    other.close();
  }

  @Test
  void aDisabledMutexIsHeldByNobody() throws Exception {
    PersistentMutexAdmin admin = locks.admin().persistentMutex("orders");
    for (int i = 0; i < 300; i++) {
      admin.enable();
      Lease lease = locks.persistentMutex("orders").acquire(LONG);
      CompletableFuture<LeaseState> seen =
          CompletableFuture.supplyAsync(
              () -> {
                while (admin.isEnabled()) {
                  Thread.onSpinWait();
                }
                return lease.state();
              });
      admin.disable();
      assertThat(seen.get(30, TimeUnit.SECONDS)).isEqualTo(LeaseState.LOST);
    }
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
  void manyThreadsNeverHoldMoreThanThereAreSlots() throws Exception {
    InMemoryLocks real = InMemoryLocks.create();
    real.admin().tokenSemaphore("images").create(3, TokenQueueType.QUORUM);
    AmqpLock images = real.tokenSemaphore("images");
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Consumer<Lease> use =
        lease -> {
          try (lease) {
            int now = inside.addAndGet(lease.permits());
            most.accumulateAndGet(now, Math::max);
            LockSupport.parkNanos(1000);
            inside.addAndGet(-lease.permits());
          }
        };
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 16; thread++) {
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 300; i++) {
                    int permits = 1 + ThreadLocalRandom.current().nextInt(2);
                    use.accept(images.acquire(permits, LONG));
                    CompletableFuture<Lease> perhaps = images.acquireAsync(LONG);
                    if (!perhaps.cancel(true)) {
                      // It was too late, and the lease is the caller's.
                      use.accept(perhaps.join());
                    }
                    use.accept(images.acquireAsync(LONG).join());
                  }
                  return null;
                }));
      }
      for (Future<?> each : all) {
        Object unused = each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(most.get()).isBetween(1, 3);
    assertThat(real.mostHeldAtOnce(images.id())).isEqualTo(3);
    await().until(() -> real.leases().isEmpty() && real.waiting().isEmpty());
    real.close();
  }
}
