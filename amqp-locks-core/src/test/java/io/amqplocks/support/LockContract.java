package io.amqplocks.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
import org.junit.jupiter.api.extension.RegisterExtension;

/** What every lock does that has one slot, whatever it is held by. */
public abstract class LockContract {

  protected static final Duration LONG = Duration.ofMinutes(1);

  protected final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension protected final Fixture fixture = new Fixture();

  /** Makes the lock of that name, if its kind must be made. */
  protected abstract void make(AmqpLocks locks, String name) throws Exception;

  protected abstract AmqpLock lock(AmqpLocks locks, String name);

  /** Whether the broker knows of a holder. */
  protected abstract boolean isHeld(String name) throws Exception;

  /** The broker knows of none after a release: at once, unless the kind says otherwise. */
  protected void isFree(String name) throws Exception {
    assertThat(isHeld(name)).isFalse();
  }

  protected Broker broker() {
    return fixture.broker();
  }

  @BeforeEach
  void open() throws Exception {
    make(fixture.open(), "m");
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  /** A verification of a token may have to be repeated. */
  private static void assertHeld(Lease lease) {
    switch (lease.lock().kind()) {
      case TOKEN_SEMAPHORE, FENCED_MUTEX -> Tokens.verified(lease);
      default -> assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void oneHolderAmongProcesses() throws Exception {
    AmqpLock mine = lock(fixture.open(), "m");
    AmqpLock theirs = lock(fixture.open(), "m");
    assertThat(isHeld("m")).isFalse();
    Lease lease = mine.tryAcquire().orElseThrow();
    assertThat(lease.lock()).isEqualTo(mine.id());
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertHeld(lease);
    assertThat(isHeld("m")).isTrue();
    assertThat(theirs.tryAcquire()).isEmpty();
    assertThat(mine.tryAcquire()).as("not reentrant").isEmpty();
    lease.close();
    isFree("m");
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThat(lease.verify()).isEqualTo(LeaseState.RELEASED);
    try (Lease next = theirs.tryAcquire().orElseThrow()) {
      lease.close();
      assertHeld(next);
      assertThat(mine.tryAcquire()).isEmpty();
    }
  }

  @Tag("trap-1")
  @Test
  void oneHolderAmongThreadsOfOneConnection() throws Exception {
    AmqpLock lock = lock(fixture.open(), "m");
    int rounds = 50;
    int winners = 0;
    for (int round = 0; round < rounds; round++) {
      CyclicBarrier start = new CyclicBarrier(2);
      List<Future<Optional<Lease>>> tries = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        tries.add(
            threads.submit(
                () -> {
                  start.await();
                  return lock.tryAcquire();
                }));
      }
      List<Lease> won = new ArrayList<>();
      for (Future<Optional<Lease>> each : tries) {
        each.get().ifPresent(won::add);
      }
      assertThat(won).hasSizeLessThan(2);
      winners += won.size();
      won.forEach(Lease::close);
      isFree("m");
    }
    assertThat(winners).isGreaterThanOrEqualTo(leastWinners(rounds));
  }

  /** Of so many races between two that try once, how many have a winner. */
  protected int leastWinners(int rounds) {
    return rounds;
  }

  @Test
  void waitersOfAProcessAreServedInOrder() throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpLock lock = lock(locks, "m");
    Lease first = lock.tryAcquire().orElseThrow();
    List<Integer> order = new ArrayList<>();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int number = i;
      waiting.add(
          threads.submit(
              () -> {
                try (Lease lease = lock.acquire(LONG)) {
                  order.add(number);
                }
                return null;
              }));
      await().until(() -> locks.status().waiting() == number + 1);
    }
    assertThat(lock.tryAcquire()).as("it is held").isEmpty();
    first.close();
    for (Future<?> each : waiting) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
    assertThat(locks.status().waiting()).isZero();
  }

  @Test
  void aWaiterIsServedWhenAnotherProcessReleases() throws Exception {
    Lease theirs = lock(fixture.open(), "m").tryAcquire().orElseThrow();
    AmqpLocks locks = fixture.open();
    Future<Lease> mine = threads.submit(() -> lock(locks, "m").acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);
    theirs.close();
    mine.get(60, TimeUnit.SECONDS).close();
  }

  @Test
  void aWaiterThatGivesUpLeavesNothingBehind() throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    AmqpLock lock = lock(locks, "m");
    Lease lease = lock.tryAcquire().orElseThrow();
    assertThatThrownBy(() -> lock.acquire(Duration.ofMillis(100)))
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining(lock.id().toString())
        .hasMessageContaining("100 ms");
    interruptAWaiter(locks, lock);
    assertThat(locks.status().waiting()).isZero();
    lease.close();
    isFree("m");
    lock.tryAcquire().orElseThrow().close();
    String id = lock.id().toString();
    await()
        .untilAsserted(
            () ->
                assertThat(recorder.heard)
                    .containsExactly(
                        "session opened",
                        "acquired " + id,
                        "TIMEOUT " + id,
                        "INTERRUPTED " + id,
                        "released " + id,
                        "acquired " + id,
                        "released " + id));
  }

  private static void interruptAWaiter(AmqpLocks locks, AmqpLock lock) throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    Thread waiter =
        new Thread(
            () -> {
              try {
                lock.acquire(LONG).close();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    waiter.start();
    await().until(() -> locks.status().waiting() == 1);
    waiter.interrupt();
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void closingReleasesAllAndSendsWaitersAway() throws Exception {
    AmqpLocks locks = fixture.open();
    Lease lease = lock(locks, "m").tryAcquire().orElseThrow();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      waiting.add(threads.submit(() -> lock(locks, "m").acquire(LONG)));
    }
    await().until(() -> locks.status().waiting() == 20);
    locks.close();
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    for (Future<?> each : waiting) {
      assertThatThrownBy(() -> each.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Closed.class);
    }
    assertThatThrownBy(() -> lock(locks, "m").tryAcquire())
        .isInstanceOf(LockException.Closed.class)
        .hasMessageContaining(lease.lock().toString());
    isFree("m");
    locks.close();
  }

  @Test
  protected void fencedItHasTokensThatRise() throws Exception {
    AmqpLock mine = lock(fixture.open(), "m");
    AmqpLock theirs = lock(fixture.open(), "m");
    try (Lease unfenced = mine.tryAcquire().orElseThrow()) {
      assertThatThrownBy(unfenced::fencingToken).isInstanceOf(LockException.NotFenced.class);
      assertThat(unfenced.fencingTokenIfAny()).isEmpty();
    }
    FencingToken last = null;
    for (int i = 0; i < 6; i++) {
      try (Lease lease = (i % 2 == 0 ? mine : theirs).fenced().acquire(LONG)) {
        FencingToken token = lease.fencingToken();
        assertThat(last == null || token.isAfter(last)).as("%s, %s", last, token).isTrue();
        last = token;
      }
    }
  }
}
