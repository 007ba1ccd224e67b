package io.amqplocks.permits;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.SemaphoreKind;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls for several permits beside each other and calls for one: no deadlock, no starving. */
@BrokerTest(everyLine = true)
class PermitsContentionTest {

  private static final Duration LONG = Duration.ofMinutes(2);
  private static final int SLOTS = 4;

  /** It took 0.04 to 2 s. The rest is for a busy machine. A call that starves takes for ever. */
  private static final Duration BOUND = Duration.ofSeconds(20);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  /** Counts by the holders themselves how many permits are held at once. */
  private void use(Lease lease) {
    try (lease) {
      int now = inside.addAndGet(lease.permits());
      try {
        most.accumulateAndGet(now, Math::max);
        // Takes a round trip, in which others would be seen that must not be there. A machine that
        // stalls for a second may leave it without an answer.
        LeaseState state = lease.verify();
        assertThat(state).as("%s, %s", lease, lease.lossReason()).isNotEqualTo(LeaseState.LOST);
      } finally {
        inside.addAndGet(-lease.permits());
      }
    }
  }

  private Callable<Integer> loop(AmqpLock semaphore, int permits, int times) {
    return () -> {
      for (int i = 0; i < times; i++) {
        boolean async = ThreadLocalRandom.current().nextInt(4) == 0;
        use(
            async
                ? semaphore.withPermits(permits).acquireAsync(LONG).get(3, TimeUnit.MINUTES)
                : semaphore.acquire(permits, LONG));
      }
      return times;
    };
  }

  /** Two that want three of four could wait for each other for ever with two slots each. */
  @ParameterizedTest
  @EnumSource
  void nobodyWaitsForEverAndNeverAreThereMoreThanSlots(SemaphoreKind kind) throws Exception {
    int times = kind == SemaphoreKind.SLOTS ? 10 : 25;
    AmqpLocks first = fixture.open();
    AmqpLock one = kind.create(fixture, first, "s", SLOTS);
    AmqpLock two = kind.of(fixture.open(), "s");
    AmqpLock three = kind.of(fixture.open(), "s");
    List<Future<Integer>> all = new ArrayList<>();
    for (AmqpLock big : List.of(one, two)) {
      all.add(threads.submit(loop(big, 3, times)));
      all.add(threads.submit(loop(big, 3, times)));
    }
    for (AmqpLock small : List.of(one, three)) {
      all.add(threads.submit(loop(small, 1, 2 * times)));
      all.add(threads.submit(loop(small, 2, times)));
    }
    long begin = System.nanoTime();
    for (Future<Integer> each : all) {
      assertThat(each.get(3, TimeUnit.MINUTES)).isPositive();
    }
    System.out.printf(
        "%d leases of 1, 2 and 3 of %d %s on RabbitMQ %s in %.1f s, at most %d permits at once%n",
        12 * times,
        SLOTS,
        kind,
        fixture.broker().version(),
        (System.nanoTime() - begin) / 1e9,
        most.get());
    assertThat(most).hasValueLessThanOrEqualTo(SLOTS);
    assertThat(inside).hasValue(0);
    one.acquire(SLOTS, LONG).close();
  }

  /** A storm that never leaves all slots free by chance does not keep a call for all from them. */
  @ParameterizedTest
  @EnumSource
  void aCallForAllIsServedDuringAStormOfCallsForOne(SemaphoreKind kind) throws Exception {
    AmqpLocks first = fixture.open();
    AmqpLock big = kind.create(fixture, first, "s", SLOTS);
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger storm = new AtomicInteger();
    List<Future<?>> singles = new ArrayList<>();
    for (AmqpLocks process : List.of(first, fixture.open(), fixture.open())) {
      AmqpLock single = kind.of(process, "s");
      for (int i = 0; i < SLOTS; i++) {
        singles.add(
            threads.submit(
                () -> {
                  while (!over.get()) {
                    use(single.acquire(LONG));
                    storm.incrementAndGet();
                  }
                  return null;
                }));
      }
    }
    List<Duration> waits = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      long begin = System.nanoTime();
      try (Lease all = big.acquire(SLOTS, LONG)) {
        waits.add(Duration.ofNanos(System.nanoTime() - begin));
        assertThat(inside).hasValue(0);
      }
    }
    over.set(true);
    for (Future<?> each : singles) {
      each.get(1, TimeUnit.MINUTES);
    }
    System.out.printf(
        "All %d of %s on RabbitMQ %s after %s, beside %d leases of one%n",
        SLOTS, kind, fixture.broker().version(), waits, storm.get());
    assertThat(waits).allMatch(each -> each.compareTo(BOUND) < 0);
    assertThat(most).hasValueLessThanOrEqualTo(SLOTS);
  }
}
