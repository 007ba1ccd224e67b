package io.amqplocks;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Slots and tokens side by side: printed, not judged; for ADR 21. Not run with the tests, but by {@code
 * -Dtest=AlgorithmNumbers}.
 */
@BrokerTest(everyLine = true)
class AlgorithmNumbers {

  private static final int CLIENTS = 16;
  private static final int SLOTS = 5;
  private static final int ALONE = 1_500;
  private static final Duration RUN = Duration.ofSeconds(5);

  @Test
  void print(Broker broker) throws Exception {
    try (Fixture fixture = new Fixture(broker)) {
      AmqpLocks first = fixture.open();
      fixture.create(first, "s", SLOTS);
      first.admin().tokenSemaphore("c").create(SLOTS, TokenQueueType.CLASSIC);
      first.admin().tokenSemaphore("q").create(SLOTS, TokenQueueType.QUORUM);
      Map<String, Function<AmqpLocks, AmqpLock>> kinds = new TreeMap<>();
      kinds.put("slots", locks -> locks.semaphore("s"));
      kinds.put("tokens, classic", locks -> locks.tokenSemaphore("c"));
      kinds.put("tokens, quorum", locks -> locks.tokenSemaphore("q"));
      alone(broker, first, kinds);
      List<AmqpLocks> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(fixture.open());
      }
      for (int round = 0; round < 2; round++) {
        for (Map.Entry<String, Function<AmqpLocks, AmqpLock>> kind : kinds.entrySet()) {
          crowd(broker, kind.getKey(), clients.stream().map(kind.getValue()).toList());
        }
      }
      fixture.close();
      Tokens.clear(broker, fixture.prefix());
    }
  }

  /** In turns, so that noise meets all. */
  private static void alone(
      Broker broker, AmqpLocks locks, Map<String, Function<AmqpLocks, AmqpLock>> kinds) {
    Map<String, List<Long>> nanos = new TreeMap<>();
    for (int i = -ALONE / 5; i < ALONE; i++) {
      for (Map.Entry<String, Function<AmqpLocks, AmqpLock>> kind : kinds.entrySet()) {
        AmqpLock lock = kind.getValue().apply(locks);
        long start = System.nanoTime();
        lock.tryAcquire().orElseThrow().close();
        if (i >= 0) {
          nanos
              .computeIfAbsent(kind.getKey(), name -> new ArrayList<>())
              .add(System.nanoTime() - start);
        }
      }
    }
    nanos.forEach(
        (name, all) -> {
          all.sort(null);
          System.out.printf(
              "%s, %s: alone p50 %d us, p99 %d us%n",
              broker.version(), name, all.get(ALONE / 2) / 1000, all.get(ALONE * 99 / 100) / 1000);
        });
  }

  private static void crowd(Broker broker, String name, List<AmqpLock> locks) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try {
      long end = System.nanoTime() + RUN.toNanos();
      List<Future<long[]>> all = new ArrayList<>();
      for (AmqpLock lock : locks) {
        all.add(threads.submit(() -> acquireUntil(lock, end)));
      }
      long leases = 0;
      long longest = 0;
      for (Future<long[]> each : all) {
        leases += each.get()[0];
        longest = Math.max(longest, each.get()[1]);
      }
      System.out.printf(
          "%s, %s: %d clients, %d slots: %d leases/s, longest wait %d ms%n",
          broker.version(), name, CLIENTS, SLOTS, leases / RUN.toSeconds(), longest / 1_000_000);
    } finally {
      threads.shutdownNow();
    }
  }

  private static long[] acquireUntil(AmqpLock lock, long end) throws InterruptedException {
    long leases = 0;
    long longest = 0;
    while (System.nanoTime() < end) {
      long start = System.nanoTime();
      try (Lease lease = lock.acquire(Duration.ofSeconds(30))) {
        longest = Math.max(longest, System.nanoTime() - start);
        leases++;
      }
    }
    return new long[] {leases, longest};
  }
}
