package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.BrokerUsage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Names that are made up as an application runs, each used once: the broker must forget them all.
 * How many is the system property {@code test.keys}.
 */
@Tag("rare")
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class KeysUsedOnceTest {

  private static final int KEYS = Integer.getInteger("test.keys", 10_000);
  private static final int THREADS = 16;

  /** The queue of a mutex expires after a minute without a consumer. */
  private static final Duration EXPIRY = Duration.ofMinutes(1);

  /**
   * What may be left of all keys, in bytes: half a kilobyte for each of ten thousand. A broker's
   * memory differs by less from one reading to the next.
   */
  private static final long LEFT = 5_000_000;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final Broker broker;

  KeysUsedOnceTest(Broker broker) {
    this.broker = broker;
  }

  /**
   * With Khepri, the log of the metadata has each key in memory, until it rolls over. By itself it
   * does so after 64 MB, whatever they are about. Here it is made to, so that what a key leaves for
   * ever is not hidden by that.
   */
  @Test
  void keysThatWereUsedOnceLeaveNothing() throws Exception {
    // While thousands of queues expire, a small machine may not answer within seconds.
    AmqpLocks locks = fixture.seldomVerifying().callTimeout(EXPIRY).build();
    try (locks) {
      useEach(locks, "warm-up", 1_000);
      awaitForgotten();
      int queues = queues();
      BrokerUsage before = settled();

      long start = System.nanoTime();
      useEach(locks, "key", KEYS);
      double seconds = (System.nanoTime() - start) / 1e9;
      int most = queues();
      // Otherwise nothing would have been left to be forgotten.
      assertThat(most).isGreaterThan(queues + THREADS);
      long mostMemory = broker.faults().usage().memory();
      awaitForgotten();
      assertThat(queues()).isEqualTo(queues);
      long logged = broker.faults().usage().memory();
      BrokerUsage after = settled();
      System.out.printf(
          "%,d keys used once on RabbitMQ %s in %.0f s. Queues %d before, %d at the end of that, %d"
              + " after the expiry; memory in MB %.1f, %.1f and %.1f, and %.1f when the logs had"
              + " rolled over; processes %d and %d, atoms %d and %d%n",
          KEYS,
          broker.version(),
          seconds,
          queues,
          most,
          queues(),
          before.memory() / 1e6,
          mostMemory / 1e6,
          logged / 1e6,
          after.memory() / 1e6,
          before.processes(),
          after.processes(),
          before.atoms(),
          after.atoms());
      assertThat(after.memory()).isLessThan(before.memory() + LEFT);
      assertThat(after.processes()).isLessThan(before.processes() + 100);
      assertThat(after.atoms()).isLessThan(before.atoms() + 100);
    }
  }

  private static void useEach(AmqpLocks locks, String name, int keys) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      AtomicInteger next = new AtomicInteger();
      List<Future<Integer>> used = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        used.add(
            pool.submit(
                () -> {
                  int count = 0;
                  for (int key = next.getAndIncrement(); key < keys; key = next.getAndIncrement()) {
                    locks.mutex(name + ":" + key).tryAcquire().orElseThrow().close();
                    count++;
                  }
                  return count;
                }));
      }
      int sum = 0;
      for (Future<Integer> each : used) {
        sum += each.get(30, TimeUnit.MINUTES);
      }
      assertThat(sum).isEqualTo(keys);
    } finally {
      pool.shutdownNow();
    }
  }

  private int queues() {
    return broker.faults().queues().size();
  }

  private void awaitForgotten() {
    String mutexes = fixture.prefix() + "mutex.";
    await()
        .pollInterval(Duration.ofSeconds(1))
        .atMost(EXPIRY.multipliedBy(3))
        .until(
            () ->
                broker.faults().queues().stream()
                    .noneMatch(queue -> queue.name().startsWith(mutexes)));
  }

  /**
   * When the logs have rolled over, and that changes nothing any more: a broker goes on to delete
   * what it knows of queues for some time after it has ceased to list them.
   */
  private BrokerUsage settled() {
    List<BrokerUsage> readings = new ArrayList<>();
    await()
        .pollInterval(Duration.ofSeconds(2))
        .atMost(EXPIRY.multipliedBy(2))
        .until(
            () -> {
              broker.faults().rollOverLogs();
              readings.add(broker.faults().usage());
              return hasSettled(readings);
            });
    return readings.get(readings.size() - 1);
  }

  /** The last three are alike. */
  private static boolean hasSettled(List<BrokerUsage> readings) {
    int size = readings.size();
    return size >= 3
        && readings.subList(size - 3, size - 1).stream()
            .allMatch(
                each -> Math.abs(each.memory() - readings.get(size - 1).memory()) < LEFT / 20);
  }
}
