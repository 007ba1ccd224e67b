package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class MutexTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Fixture fixture;

  @BeforeEach
  void fixture(Broker broker) {
    fixture = new Fixture(broker);
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    fixture.close();
  }

  private String queue(String name) {
    return fixture.names().mutex(LockName.of(name));
  }

  @Test
  void oneHolderAmongProcesses() throws Exception {
    AmqpLock mine = fixture.open().mutex("m");
    AmqpLock theirs = fixture.open().mutex("m");
    Lease lease = mine.tryAcquire().orElseThrow();
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    assertThat(theirs.tryAcquire()).isEmpty();
    lease.close();
    assertThat(fixture.exists(queue("m"))).isFalse();
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThat(lease.verify()).isEqualTo(LeaseState.RELEASED);
    try (Lease next = theirs.tryAcquire().orElseThrow()) {
      lease.close();
      assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Tag("trap-1")
  @Test
  void oneHolderAmongThreadsOfOneConnection() throws Exception {
    AmqpLock mutex = fixture.open().mutex("m");
    for (int round = 0; round < 50; round++) {
      CyclicBarrier start = new CyclicBarrier(2);
      List<Future<Optional<Lease>>> tries = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        tries.add(
            threads.submit(
                () -> {
                  start.await();
                  return mutex.tryAcquire();
                }));
      }
      List<Lease> won = new ArrayList<>();
      for (Future<Optional<Lease>> each : tries) {
        each.get().ifPresent(won::add);
      }
      assertThat(won).hasSize(1);
      won.get(0).close();
    }
  }

  @Test
  void waitersOfAProcessAreServedInOrder() throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpLock mutex = locks.mutex("m");
    Lease first = mutex.tryAcquire().orElseThrow();
    List<Integer> order = new ArrayList<>();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int number = i;
      waiting.add(
          threads.submit(
              () -> {
                try (Lease lease = mutex.acquire(LONG)) {
                  order.add(number);
                }
                return null;
              }));
      await().until(() -> locks.status().waiting() == number + 1);
    }
    assertThat(mutex.tryAcquire()).as("no overtaking").isEmpty();
    first.close();
    for (Future<?> each : waiting) {
      each.get(20, TimeUnit.SECONDS);
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
    assertThat(locks.status().waiting()).isZero();
  }

  @Test
  void aWaiterIsServedWhenAnotherProcessReleases() throws Exception {
    Lease theirs = fixture.open().mutex("m").tryAcquire().orElseThrow();
    AmqpLocks locks = fixture.open();
    Future<Lease> mine = threads.submit(() -> locks.mutex("m").acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);
    theirs.close();
    mine.get(5, TimeUnit.SECONDS).close();
  }

  @Test
  void aWaiterThatGivesUpLeavesNothingBehind() throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    AmqpLock mutex = locks.mutex("m");
    Lease lease = mutex.tryAcquire().orElseThrow();
    assertThatThrownBy(() -> mutex.acquire(Duration.ofMillis(100)))
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining("mutex 'm'")
        .hasMessageContaining("PT0.1S");
    CountDownLatch interrupted = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              try {
                mutex.acquire(LONG).close();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    waiter.start();
    await().until(() -> locks.status().waiting() == 1);
    waiter.interrupt();
    assertThat(interrupted.await(5, TimeUnit.SECONDS)).isTrue();
    assertThat(locks.status().waiting()).isZero();
    lease.close();
    assertThat(fixture.exists(queue("m"))).isFalse();
    mutex.tryAcquire().orElseThrow().close();
    await()
        .untilAsserted(
            () ->
                assertThat(recorder.heard)
                    .containsExactly(
                        "session opened",
                        "acquired mutex 'm'",
                        "TIMEOUT mutex 'm'",
                        "INTERRUPTED mutex 'm'",
                        "released mutex 'm'",
                        "acquired mutex 'm'",
                        "released mutex 'm'"));
  }

  @Tag("trap-14")
  @Test
  void aHolderHearsAtOnceThatItsQueueWasDeleted(Broker broker) throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
    Lease other = locks.mutex("other").tryAcquire().orElseThrow();
    CompletableFuture<String> heard = new CompletableFuture<>();
    lease.whenLost().thenAccept(reason -> heard.complete(reason.toString()));
    broker.faults().deleteQueue(queue("m"));
    assertThat(heard.get(1, TimeUnit.SECONDS)).contains("REVOKED").contains(queue("m"));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    assertThat(locks.status().held()).isEqualTo(1);
    assertThat(locks.status().lastLoss()).hasValueSatisfying(s -> assertThat(s).contains("'m'"));
    lease.close();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    await()
        .untilAsserted(
            () ->
                assertThat(recorder.heard)
                    .containsExactly(
                        "session opened",
                        "acquired mutex 'm'",
                        "acquired mutex 'other'",
                        "lost mutex 'm' REVOKED"));
    await().until(() -> locks.mutex("m").tryAcquire().isPresent());
  }

  @Test
  void manyThreadsShareOneSessionFromTheStart(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(fixture.prefix()));
    fixture.create(fixture.open(), "s", 3);
    CyclicBarrier start = new CyclicBarrier(32);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      AmqpLock lock = i % 2 == 0 ? locks.mutex("m" + i) : locks.semaphore("s");
      all.add(
          threads.submit(
              () -> {
                start.await();
                lock.acquire(LONG).close();
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(30, TimeUnit.SECONDS);
    }
    assertThat(broker.faults().connections())
        .filteredOn(name -> name.startsWith(fixture.prefix()))
        .containsExactlyInAnyOrder(fixture.prefix() + " holder", fixture.prefix() + " prober");
  }

  @Test
  void closingReleasesManyAndLosesNone() throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      leases.add(locks.mutex("m" + i).tryAcquire().orElseThrow());
    }
    assertThat(locks.status().held()).isEqualTo(200);
    locks.close();
    assertThat(leases).allMatch(lease -> lease.state() == LeaseState.RELEASED);
    assertThat(recorder.heard).filteredOn(heard -> heard.startsWith("lost")).isEmpty();
    assertThat(recorder.heard).filteredOn(heard -> heard.startsWith("released")).hasSize(200);
  }

  @Test
  void closingReleasesAllAndSendsWaitersAway() throws Exception {
    AmqpLocks locks = fixture.open();
    Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(threads.submit(() -> locks.mutex("m").acquire(LONG)));
    }
    await().until(() -> locks.status().waiting() == 3);
    locks.close();
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    for (Future<?> each : waiting) {
      assertThatThrownBy(() -> each.get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Closed.class);
    }
    assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
        .isInstanceOf(LockException.Closed.class)
        .hasMessageContaining("mutex 'm'");
    assertThat(fixture.exists(queue("m"))).isFalse();
    locks.close();
  }
}
