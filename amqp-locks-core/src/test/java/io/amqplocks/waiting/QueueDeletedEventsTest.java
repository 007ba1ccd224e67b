package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the broker tells of its events, who waits knows at once that a holder died. */
@Tag("one-jdk")
class QueueDeletedEventsTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  /** Before anybody looks for himself. */
  private static final Duration SOON = Duration.ofMillis(300);

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @ParameterizedTest
  @ValueSource(strings = {"4.3", "3.10"})
  void isHeardOf(String line) throws Exception {
    Assumptions.assumeTrue(Brokers.has(line), "no broker of line " + line);
    try (OwnedBroker broker = Brokers.start(line)) {
      broker.faults().enablePlugin("rabbitmq_event_exchange");
      try (Fixture fixture = new Fixture(broker)) {
        AmqpLocks locks = fixture.open();
        fixture.create(locks, "s", 1);
        String mutex = fixture.names().exclusiveQueueMutex(LockName.of("m"));
        String slot = fixture.names().holder(LockName.of("s"), 1);
        assertThat(soonAfterDeath(fixture, locks, locks.exclusiveQueueMutex("m"), mutex))
            .isLessThan(SOON);
        assertThat(soonAfterDeath(fixture, locks, locks.slotSemaphore("s"), slot)).isLessThan(SOON);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** A stranger that holds by the same queue, and whose connection breaks off. */
  private Duration soonAfterDeath(
      Fixture fixture, AmqpLocks locks, AmqpLock lock, String holderQueue) throws Exception {
    List<Duration> waited = new ArrayList<>();
    // A busy machine makes most of them late.
    for (int i = 0; i < 12 && (i < 2 || waited.get(1).compareTo(SOON) >= 0); i++) {
      Connection holder = fixture.stranger();
      holder.createChannel().queueDeclare(holderQueue, false, true, false, null);
      Future<Long> next =
          threads.submit(
              () -> {
                try (Lease lease = lock.acquire(LONG)) {
                  return System.nanoTime();
                }
              });
      await().until(() -> locks.status().waiting() == 1);
      // By itself it looks half a second after it has begun to wait, or later.
      fixture.awaitConsumers(fixture.names().wake(lock.id()), 1);
      await()
          .pollDelay(Duration.ZERO)
          .until(
              () ->
                  fixture.broker().faults().queues().stream()
                      .anyMatch(q -> q.name().contains(".events-") && q.consumers() == 1));
      assertThat(next).isNotDone();
      long dead = System.nanoTime();
      holder.abort(1);
      waited.add(Duration.ofNanos(next.get(60, TimeUnit.SECONDS) - dead));
      waited.sort(null);
    }
    System.out.println(lock + ": free after a holder's death: " + waited);
    return waited.get(1);
  }
}
