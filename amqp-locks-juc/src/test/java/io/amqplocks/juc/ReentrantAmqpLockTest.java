package io.amqplocks.juc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("LockNotBeforeTry") // What locking and unlocking do is what is tested.
@BrokerTest(everyLine = true)
class ReentrantAmqpLockTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final String name = "juc-" + UUID.randomUUID();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private AmqpLocks locks;
  private AmqpLocks elsewhere;
  private ReentrantLocks reentrant;
  private ReentrantAmqpLock lock;

  @BeforeEach
  void open(Broker broker) {
    locks = AmqpLocks.builder(broker.connectionFactory()).build();
    elsewhere = AmqpLocks.builder(broker.connectionFactory()).build();
    reentrant = new ReentrantLocks(PATIENCE);
    lock = reentrant.of(locks.mutex(name));
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    locks.close();
    elsewhere.close();
  }

  private <T> T inAnotherThread(Callable<T> task) throws Exception {
    try {
      return threads.submit(task).get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }

  private boolean freeElsewhere() {
    return elsewhere.mutex(name).tryAcquire().map(lease -> close(lease)).orElse(false);
  }

  private static boolean close(AutoCloseable lease) {
    try {
      lease.close();
      return true;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void isHeldUntilTheOutermostUnlockByWhateverViewOfIt() {
    lock.lock();
    Lock sameLock = reentrant.of(locks.mutex(name));
    sameLock.lock();
    assertThat(lock.getHoldCount()).isEqualTo(2);
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
    sameLock.unlock();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    assertThat(freeElsewhere()).isFalse();
    lock.unlock();
    assertThat(lock.getHoldCount()).isZero();
    assertThat(lock.lease()).isEmpty();
    await().atMost(PATIENCE).until(this::freeElsewhere);
  }

  @Test
  void excludesOtherThreadsAndClients() throws Exception {
    ReentrantAmqpLock theirs = new ReentrantLocks(PATIENCE).of(elsewhere.mutex(name));
    lock.lock();
    assertThat(inAnotherThread(() -> lock.tryLock())).isFalse();
    assertThat(inAnotherThread(() -> lock.isHeldByCurrentThread())).isFalse();
    assertThat(theirs.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
    Future<Boolean> waiting = threads.submit(() -> theirs.tryLock(30, TimeUnit.SECONDS));
    await().atMost(PATIENCE).until(() -> !elsewhere.waiting().isEmpty());
    lock.unlock();
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void isUnlockedByItsThreadOnly() throws Exception {
    lock.lock();
    assertThatThrownBy(
            () ->
                inAnotherThread(
                    () -> {
                      lock.unlock();
                      return null;
                    }))
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining(name);
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void nothingWaitsWithoutABound() throws Exception {
    Lock impatient = new ReentrantLocks(Duration.ofMillis(100)).of(elsewhere.mutex(name));
    lock.lock();
    assertThatThrownBy(impatient::lock)
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining("within 100 ms");
    assertThatThrownBy(impatient::lockInterruptibly)
        .isInstanceOf(LockException.AcquireTimeout.class);
    assertThat(impatient.tryLock(0, TimeUnit.SECONDS)).isFalse();
    assertThat(impatient.tryLock(-1, TimeUnit.SECONDS)).isFalse();
    assertThatThrownBy(() -> new ReentrantLocks(Duration.ZERO))
        .isInstanceOf(LockException.Invalid.class);
    lock.unlock();
    // All of time is not more than the core's clock can add up.
    assertThat(impatient.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
    impatient.unlock();
  }

  @Test
  void anInterruptEndsOnlyTheWaitsThatItMayEnd() throws Exception {
    lock.lock();
    CountDownLatch begun = new CountDownLatch(1);
    List<Boolean> flags = new ArrayList<>();
    Thread uninterruptible =
        new Thread(
            () -> {
              begun.countDown();
              lock.lock();
              flags.add(Thread.currentThread().isInterrupted());
              lock.unlock();
            });
    uninterruptible.start();
    begun.await();
    awaitWaiters(1);
    uninterruptible.interrupt();
    awaitWaiters(1);
    assertThat(uninterruptible.isAlive()).isTrue();

    Future<?> interruptible =
        threads.submit(
            () -> {
              Thread.currentThread().interrupt();
              assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
              Thread.currentThread().interrupt();
              assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS))
                  .isInstanceOf(InterruptedException.class);
              Thread.currentThread().interrupt();
              // As ReentrantLock does: no wait, so nothing to interrupt.
              assertThat(lock.tryLock()).isFalse();
              assertThat(Thread.interrupted()).isTrue();
            });
    interruptible.get(30, TimeUnit.SECONDS);
    lock.unlock();
    uninterruptible.join(30_000);
    assertThat(flags).containsExactly(true);
  }

  private void awaitWaiters(int count) {
    await()
        .atMost(PATIENCE)
        .until(() -> locks.waiting().getOrDefault(LockId.mutex(name), 0) == count);
  }

  @Test
  void aLossIsToldByTheNextAcquireAndByTheOutermostUnlock() {
    lock.lock();
    lock.lock();
    assertThat(locks.revoke(LockId.mutex(name), "a test")).isEqualTo(1);
    assertThat(lock.isHeldByCurrentThread()).isFalse();
    assertThat(lock.getHoldCount()).isEqualTo(2);
    assertThatThrownBy(lock::tryLock)
        .isInstanceOf(LockException.Lost.class)
        .hasMessageContaining(name)
        .hasMessageContaining("a test");
    lock.unlock();
    assertThatThrownBy(lock::unlock).isInstanceOf(LockException.Lost.class);
    // It is then as if it had never been locked.
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
  }

  @Test
  void aLeaseThatWasReleasedElsewhereWasLostToItsThread() {
    lock.lock();
    lock.lease().orElseThrow().close();
    assertThatThrownBy(lock::unlock).isInstanceOf(LockException.Lost.class);
    assertThat(lock.getHoldCount()).isZero();
  }

  @Test
  void isHeldForALimitedTime() throws Exception {
    lock.lock(Duration.ofSeconds(5));
    Lease lease = lock.lease().orElseThrow();
    // Its outermost call has said for how long.
    assertThat(lock.tryLock(Duration.ZERO, Duration.ofHours(1))).isTrue();
    lock.unlock();
    await().atMost(PATIENCE).until(() -> lease.state() == LeaseState.LOST);
    await().atMost(PATIENCE).until(this::freeElsewhere);
    assertThatThrownBy(lock::unlock).isInstanceOf(LockException.Lost.class);
    assertThat(lock.tryLock(PATIENCE, PATIENCE)).isTrue();
    lock.unlock();
    assertThatThrownBy(() -> lock.lock(Duration.ZERO)).isInstanceOf(LockException.Invalid.class);
  }

  @Test
  void countsCorrectlyAmongThreadsOfTwoClients() throws Exception {
    ReentrantAmqpLock theirs = new ReentrantLocks(PATIENCE).of(elsewhere.mutex(name));
    int[] counter = new int[1];
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Lock mine = i % 2 == 0 ? lock : theirs;
      all.add(
          threads.submit(
              () -> {
                for (int n = 0; n < 50; n++) {
                  mine.lock();
                  try {
                    mine.lock();
                    counter[0]++;
                    mine.unlock();
                  } finally {
                    mine.unlock();
                  }
                }
              }));
    }
    for (Future<?> each : all) {
      each.get(120, TimeUnit.SECONDS);
    }
    assertThat(counter[0]).isEqualTo(400);
  }

  @Test
  void hasNoConditions() {
    assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void eachSideOfAReadWriteLockIsReentrantByItself() throws Exception {
    AmqpReadWriteLock sides = locks.readWriteLock(name);
    ReentrantAmqpLock read = reentrant.of(sides.readLock());
    ReentrantAmqpLock write = reentrant.of(sides.writeLock());
    read.lock();
    read.lock();
    assertThat((boolean) inAnotherThread(read::tryLock)).as("another reader").isTrue();
    assertThat(write.tryLock()).as("upgrade").isFalse();
    read.unlock();
    read.unlock();
    assertThat((boolean) inAnotherThread(write::tryLock)).as("beside the other reader").isFalse();
  }
}
