package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a test can do with a read-write lock in memory. */
class InMemoryReadWriteLockTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LockId READ = LockId.readLock("prices");
  private static final LockId WRITE = LockId.writeLock("prices");

  private final InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();
  private final AmqpReadWriteLock prices = locks.readWriteLock("prices");

  @AfterEach
  void close() {
    locks.close();
  }

  private CompletableFuture<Lease> reader() {
    return prices.readLock().acquireAsync(LONG);
  }

  private CompletableFuture<Lease> writer() {
    return prices.writeLock().acquireAsync(LONG);
  }

  private static Lease get(CompletableFuture<Lease> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  private List<LockId> held() {
    return locks.leases().stream().map(LeaseSnapshot::lock).toList();
  }

  private int holders() {
    return locks.admin().readWriteLock("prices").holders();
  }

  @Test
  void theLineIsOfBothSides() throws Exception {
    Lease first = prices.writeLock().acquire(LONG);
    List<CompletableFuture<Lease>> line =
        List.of(reader(), reader(), writer(), reader(), writer(), writer());
    assertThat(locks.waiting()).containsEntry(READ, 3).containsEntry(WRITE, 3);
    first.close();
    assertThat(held()).containsExactly(READ, READ);
    get(line.get(0)).close();
    assertThat(held()).containsExactly(READ);
    get(line.get(1)).close();
    assertThat(held()).containsExactly(WRITE);
    get(line.get(2)).close();
    assertThat(held()).containsExactly(READ);
    get(line.get(3)).close();
    assertThat(held()).containsExactly(WRITE);
    get(line.get(4)).close();
    get(line.get(5)).close();
    assertThat(locks.history())
        .extracting(Acquisition::lock)
        .containsExactly(WRITE, READ, READ, WRITE, READ, WRITE, WRITE);
    assertThat(locks.mostHeldAtOnce(READ)).isEqualTo(2);
    assertThat(locks.mostHeldAtOnce(WRITE)).isEqualTo(1);
  }

  @Test
  void aWriterElsewhereKeepsBothSidesOut() throws Exception {
    InMemoryLocks.Occupation elsewhere = locks.busy(WRITE);
    assertThat(prices.readLock().tryAcquire()).isEmpty();
    assertThat(prices.writeLock().tryAcquire()).isEmpty();
    assertThat(holders()).isEqualTo(1);
    assertThat(held()).isEmpty();
    CompletableFuture<Lease> reader = reader();
    CompletableFuture<Lease> writer = writer();
    try (InMemoryLocks.Occupation second = locks.busy(WRITE)) {
      assertThat(holders()).as("while there is %s too, who waits", second).isEqualTo(1);
      elsewhere.close();
      assertThat(held()).isEmpty();
    }
    assertThat(held()).containsExactly(READ);
    get(reader).close();
    get(writer).close();
  }

  @Test
  void aWriterElsewhereWaitsForThoseWhoHoldTheLockOnly() throws Exception {
    Lease first = prices.readLock().acquire(LONG);
    CompletableFuture<Lease> waiter = writer();
    InMemoryLocks.Occupation elsewhere = locks.busy(WRITE);
    assertThat(prices.readLock().tryAcquire()).isEmpty();
    assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    assertThat(holders()).isEqualTo(1);
    first.close();
    assertThat(held()).isEmpty();
    assertThat(holders()).isEqualTo(1);
    elsewhere.close();
    assertThat(held()).containsExactly(WRITE);
    get(waiter).close();
  }

  @Test
  void aReaderElsewhereKeepsWritersOut() throws Exception {
    InMemoryLocks.Occupation elsewhere = locks.busy(READ);
    Lease reader = prices.readLock().tryAcquire().orElseThrow();
    assertThat(prices.writeLock().tryAcquire()).isEmpty();
    assertThat(holders()).isEqualTo(2);
    CompletableFuture<Lease> writer = writer();
    assertThat(prices.readLock().tryAcquire()).isEmpty();
    reader.close();
    assertThat(held()).isEmpty();
    elsewhere.close();
    assertThat(held()).containsExactly(WRITE);
    Lease written = get(writer);
    try (InMemoryLocks.Occupation later = locks.busy(READ)) {
      assertThat(later).isNotNull();
      assertThat(holders()).as("readers elsewhere wait for the writer").isEqualTo(1);
      assertThat(written.verify()).isEqualTo(LeaseState.HELD);
    }
    written.close();
  }

  @Test
  void aLostReaderMakesWayOnlyAsTheLastOne() throws Exception {
    Lease one = prices.readLock().acquire(LONG);
    Lease two = prices.readLock().acquire(LONG);
    CompletableFuture<Lease> writer = writer();
    LossReason reason = new LossReason(LossReason.Cause.EXPIRED, "test");
    locks.uncertain(two);
    locks.lose(one, reason);
    assertThat(two.verify()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(held()).containsExactly(READ);
    locks.lose(two, reason);
    assertThat(held()).containsExactly(WRITE);
    get(writer).close();
  }

  @Test
  void aWriterWhoseTimeIsOverLetsReadersPass() throws Exception {
    Lease first = prices.readLock().acquire(LONG);
    CompletableFuture<Lease> writer = prices.writeLock().acquireAsync(Duration.ofSeconds(5));
    CompletableFuture<Lease> reader = reader();
    assertThat(held()).containsExactly(READ);
    locks.advance(Duration.ofSeconds(5));
    assertThat(held()).containsExactly(READ, READ);
    assertThatThrownBy(() -> get(writer)).hasCauseInstanceOf(LockException.AcquireTimeout.class);
    get(reader).close();
    first.close();
  }

  @Test
  void aWriterThatIsCancelledLetsReadersPass() throws Exception {
    Lease first = prices.readLock().acquire(LONG);
    CompletableFuture<Lease> writer = writer();
    CompletableFuture<Lease> reader = reader();
    assertThat(writer.cancel(false)).isTrue();
    assertThat(held()).containsExactly(READ, READ);
    get(reader).close();
    first.close();
  }

  @Test
  void anOutageTakesBothSidesAndKeepsTheLine() throws Exception {
    Lease first = prices.readLock().acquire(LONG);
    CompletableFuture<Lease> writer = writer();
    CompletableFuture<Lease> reader = reader();
    locks.unavailable();
    assertThat(first.state()).isEqualTo(LeaseState.LOST);
    assertThat(held()).isEmpty();
    assertThatThrownBy(this::holders).isInstanceOf(LockException.Unreachable.class);
    locks.available();
    assertThat(held()).containsExactly(WRITE);
    get(writer).close();
    get(reader).close();
  }

  @Test
  void thereAreNoQueues() {
    assertThat(locks.admin().holderQueue(READ, 1)).isEmpty();
    assertThat(locks.admin().holderQueue(WRITE, 1)).isEmpty();
  }

  @Test
  void manyThreadsNeverMeetAWriter() throws Exception {
    InMemoryLocks real = InMemoryLocks.create();
    AmqpReadWriteLock lock = real.readWriteLock("prices");
    AtomicInteger readers = new AtomicInteger();
    AtomicInteger writers = new AtomicInteger();
    AtomicInteger met = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 16; thread++) {
        boolean writes = thread % 4 == 0;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 300; i++) {
                    try (Lease lease =
                        (writes ? lock.writeLock() : lock.readLock()).acquire(LONG)) {
                      AtomicInteger mine = writes ? writers : readers;
                      int same = mine.incrementAndGet();
                      LockSupport.parkNanos(1000);
                      int others = (writes ? readers : writers).get();
                      if (others > 0 || (writes && same > 1) || !isHeld(lease)) {
                        met.incrementAndGet();
                      }
                      mine.decrementAndGet();
                    }
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
    assertThat(met).hasValue(0);
    assertThat(real.mostHeldAtOnce(WRITE)).isEqualTo(1);
    assertThat(real.mostHeldAtOnce(READ)).isBetween(2, 12);
    await().until(() -> real.leases().isEmpty() && real.waiting().isEmpty());
    real.close();
  }

  private static boolean isHeld(Lease lease) {
    return lease.state() == LeaseState.HELD;
  }
}
