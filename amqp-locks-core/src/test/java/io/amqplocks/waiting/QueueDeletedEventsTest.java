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
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the broker tells of its events, who waits knows at once that a holder died. */
@Tag("one-jdk")
class QueueDeletedEventsTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  private static final Duration SOON = Duration.ofMillis(100);
  private static final Duration EARLY = Duration.ofMillis(400);
  private static final int ENOUGH = 2;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @ParameterizedTest
  @ValueSource(strings = {"4.3", "3.10"})
  void isHeardOf(String line) throws Exception {
    Assumptions.assumeTrue(Brokers.has(line), "no broker of line " + line);
    try (OwnedBroker broker = Brokers.start(line)) {
      broker.faults().enablePlugin("rabbitmq_event_exchange");
      try (Fixture fixture = new Fixture(broker)) {
        fixture.create(fixture.open(), "s", 1);
        String mutex = fixture.names().exclusiveQueueMutex(LockName.of("m"));
        String slot = fixture.names().holder(LockName.of("s"), 1);
        assertHeardOf(fixture, locks -> locks.exclusiveQueueMutex("m"), mutex);
        assertHeardOf(fixture, locks -> locks.slotSemaphore("s"), slot);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * A stranger that holds by the same queue, and whose connection breaks off. A client that is not
   * told looks for the first time half a second after it has begun to wait, or later. So it cannot
   * be as soon if the stranger dies {@link #EARLY}. It looks often once it has been lucky twice, so
   * each has one go.
   */
  private void assertHeardOf(
      Fixture fixture, Function<AmqpLocks, AmqpLock> kind, String holderQueue) throws Exception {
    List<Duration> waited = new ArrayList<>();
    // A busy machine makes most of them late.
    for (int i = 0; i < 40 && soon(waited) < ENOUGH; i++) {
      try (AmqpLocks locks = fixture.connected(fixture.builder())) {
        untilAcquired(fixture, locks, kind.apply(locks), holderQueue).ifPresent(waited::add);
      }
    }
    System.out.println(holderQueue + ": free after a holder's death: " + waited);
    assertThat(soon(waited)).isEqualTo(ENOUGH);
  }

  private static long soon(List<Duration> waited) {
    return waited.stream().filter(each -> each.compareTo(SOON) < 0).count();
  }

  /** Empty if the holder did not die early. */
  private Optional<Duration> untilAcquired(
      Fixture fixture, AmqpLocks locks, AmqpLock lock, String holderQueue) throws Exception {
    Connection holder = fixture.stranger();
    holder.createChannel().queueDeclare(holderQueue, false, true, false, null);
    long begun = System.nanoTime();
    Future<Long> next =
        threads.submit(
            () -> {
              try (Lease lease = lock.acquire(LONG)) {
                return System.nanoTime();
              }
            });
    eventually(() -> locks.status().waiting() == 1);
    eventually(
        () ->
            fixture.broker().faults().queues().stream()
                .anyMatch(q -> q.name().contains(".events-") && q.consumers() == 1));
    assertThat(next).isNotDone();
    long dead = System.nanoTime();
    holder.abort(1);
    Duration waited = Duration.ofNanos(next.get(60, TimeUnit.SECONDS) - dead);
    return dead - begun < EARLY.toNanos() ? Optional.of(waited) : Optional.empty();
  }

  private static void eventually(Callable<Boolean> condition) {
    await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(10)).until(condition);
  }
}
