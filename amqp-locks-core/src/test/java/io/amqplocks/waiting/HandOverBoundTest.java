package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * Threads of one process that hand a slot to each other keep it from other processes for a while
 * only.
 */
@BrokerTest(everyLine = true)
class HandOverBoundTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int THREADS = 8;
  private static final int TURNS = 10;

  /**
   * A slot is handed over for 100 ms, then it goes to whoever began to wait first at the broker:
   * that may be the same process once more, whose next thread did so before. The rest is for a busy
   * machine.
   */
  private static final Duration BOUND = Duration.ofSeconds(2);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  private static AmqpLock lock(AmqpLocks locks, LockKind kind) {
    return switch (kind) {
      case MUTEX -> locks.mutex("l");
      case TOKEN_SEMAPHORE -> locks.tokenSemaphore("l");
      case FENCED_MUTEX -> locks.fencedMutex("l");
      default -> throw new IllegalArgumentException(kind.toString());
    };
  }

  @ParameterizedTest
  @EnumSource(
      mode = Mode.INCLUDE,
      names = {"MUTEX", "TOKEN_SEMAPHORE", "FENCED_MUTEX"})
  void aWaiterInAnotherProcessIsServedMeanwhile(LockKind kind) throws Exception {
    isServedMeanwhile(kind, true);
  }

  /** Also if the threads of the other one overtake each other. All of these are served too. */
  @ParameterizedTest
  @EnumSource(
      mode = Mode.INCLUDE,
      names = {"MUTEX"})
  void aWaiterInAnotherProcessIsServedWhileThreadsAreUnfair(LockKind kind) throws Exception {
    isServedMeanwhile(kind, false);
  }

  private void isServedMeanwhile(LockKind kind, boolean fair) throws Exception {
    AmqpLocks greedy = fixture.open();
    greedy.admin().tokenSemaphore("l").create(1, TokenQueueType.CLASSIC);
    AmqpLock other = lock(fixture.open(), kind);
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger holders = new AtomicInteger();
    AtomicLong leases = new AtomicLong();
    AmqpLock contended = fair ? lock(greedy, kind) : lock(greedy, kind).unfair();
    AtomicIntegerArray perThread = new AtomicIntegerArray(THREADS);
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      all.add(
          threads.submit(
              () -> {
                while (!over.get()) {
                  try (Lease lease = contended.acquire(LONG)) {
                    assertThat(holders.incrementAndGet()).isEqualTo(1);
                    leases.incrementAndGet();
                    perThread.incrementAndGet(thread);
                    holders.decrementAndGet();
                  }
                }
                return null;
              }));
    }
    List<Duration> waited = new ArrayList<>();
    for (int i = 0; i <= TURNS; i++) {
      long before = leases.get();
      await().pollInterval(Duration.ofMillis(1)).until(() -> leases.get() > before + 20);
      long start = System.nanoTime();
      try (Lease lease = other.acquire(LONG)) {
        waited.add(Duration.ofNanos(System.nanoTime() - start));
        assertThat(holders.incrementAndGet()).isEqualTo(1);
        holders.decrementAndGet();
      }
    }
    over.set(true);
    for (Future<Void> each : all) {
      each.get(120, TimeUnit.SECONDS);
    }
    // The first one opened its connection.
    waited.remove(0);
    waited.sort(null);
    System.out.printf(
        "%s%s on RabbitMQ %s: %d leases handed on among %d threads meanwhile; one in another process waited"
            + " %d ms in the middle, %d ms at most; %s for each thread%n",
        fair ? "" : "unfair ",
        kind,
        fixture.broker().version(),
        leases.get(),
        THREADS,
        waited.get(TURNS / 2).toMillis(),
        waited.get(TURNS - 1).toMillis(),
        perThread);
    for (int i = 0; i < THREADS; i++) {
      assertThat(perThread.get(i)).as("thread %d", i).isPositive();
    }
    assertThat(waited.get(TURNS / 2)).isLessThan(BOUND);
    assertThat(waited.get(TURNS - 1)).isLessThan(BOUND.multipliedBy(5));
    // Eleven times those 21 that are waited for, and a few more, without any hand-over.
    assertThat(leases.get()).as("more than the broker would give").isGreaterThan(500);
  }

  /** In two processes, and with unfenced leases in between. */
  @ParameterizedTest
  @EnumSource(
      mode = Mode.INCLUDE,
      names = {"MUTEX", "FENCED_MUTEX", "TOKEN_SEMAPHORE"})
  void fencedLeasesHaveTokensThatRiseWhileTheyAreHandedOver(LockKind kind) throws Exception {
    AmqpLocks first = fixture.open();
    first.admin().tokenSemaphore("l").create(1, TokenQueueType.QUORUM);
    List<AmqpLock> plain = List.of(lock(first, kind), lock(fixture.open(), kind));
    AtomicLong last = new AtomicLong();
    AtomicInteger leases = new AtomicInteger();
    AtomicInteger handedOver = new AtomicInteger();
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      boolean fenced = kind == LockKind.FENCED_MUTEX || i % 4 != 0;
      AmqpLock mine = fenced ? plain.get(i / 4).fenced() : plain.get(i / 4);
      all.add(
          threads.submit(
              () -> {
                for (int turn = 0; turn < TURNS; turn++) {
                  try (Lease lease = mine.acquire(LONG)) {
                    if (fenced) {
                      FencingToken token = lease.fencingToken();
                      assertThat(token.number()).isGreaterThan(last.getAndSet(token.number()));
                      leases.incrementAndGet();
                      handedOver.addAndGet(token.handOvers() > 0 ? 1 : 0);
                    } else if (kind == LockKind.MUTEX) {
                      assertThat(lease.fencingTokenIfAny()).isEmpty();
                    }
                  }
                }
                return null;
              }));
    }
    for (Future<Void> each : all) {
      each.get(180, TimeUnit.SECONDS);
    }
    assertThat(leases.get()).isGreaterThanOrEqualTo(THREADS * TURNS * 3 / 4);
    assertThat(handedOver.get()).isPositive();
  }
}
