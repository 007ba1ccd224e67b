package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.RoundTrips;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How often a client and the broker talk about a mutex, and on which connections. */
@BrokerTest(everyLine = true)
class MutexRoundTripsTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void acquiringAndFailingToAcquire(Broker broker) throws Exception {
    try (RoundTrips trips = new RoundTrips(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost("127.0.0.1");
      factory.setPort(trips.port());
      // So rare heartbeats are no part of any trip, and a slow test loses no connection.
      AmqpLocks counted =
          fixture.open(
              fixture
                  .builder(factory)
                  .heartbeat(Duration.ofMinutes(5))
                  .verifyEvery(Duration.ofMinutes(2))
                  .callTimeout(Duration.ofMinutes(1)));
      AmqpLock mutex = counted.mutex("m");
      // Opens connections and channels; a new session then looks at its broker in the background.
      mutex.tryAcquire().orElseThrow().close();
      await().pollDelay(Duration.ofSeconds(2)).until(() -> true);

      AtomicReference<Optional<Lease>> last = new AtomicReference<>(Optional.empty());
      assertThat(
              trips(
                  trips,
                  1,
                  () -> {
                    last.get().ifPresent(Lease::close);
                    last.set(mutex.tryAcquire());
                    return assertThat(last.get()).isPresent();
                  }))
          .as("a consume, and its message follows the answer; a release is not answered")
          .isEqualTo(1);
      last.get().orElseThrow().close();
      AmqpLock theirs = fixture.open().mutex("m");
      try (Lease lease = theirs.acquire(Duration.ofMinutes(1))) {
        assertThat(
                trips(
                    trips,
                    3,
                    MutexRoundTripsTest::letSecondPass,
                    () -> assertThat(mutex.tryAcquire()).isEmpty()))
            .as("a consume, a look, and a request whose answer comes behind all messages")
            .isEqualTo(3);
        assertThat(
                trips(
                    trips,
                    3,
                    () -> findBusy(mutex),
                    () -> {
                      for (int i = 0; i < 3; i++) {
                        assertThat(mutex.tryAcquire()).isEmpty();
                      }
                      return lease.state();
                    }))
            .as("each is a look at a mutex that was busy a moment ago, on the same channel")
            .isEqualTo(3);
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      }
      assertThat(
              trips(
                  trips,
                  1,
                  () -> {
                    last.get().ifPresent(Lease::close);
                    try (Lease lease = theirs.acquire(Duration.ofMinutes(1))) {
                      assertThat(lease.state()).isEqualTo(LeaseState.HELD);
                      findBusy(mutex);
                    }
                    mutex.acquire(Duration.ofMinutes(1)).close();
                  },
                  () -> {
                    last.set(mutex.tryAcquire());
                    return assertThat(last.get()).isPresent();
                  }))
          .as("no look at a mutex that this process released a moment ago")
          .isEqualTo(1);
      last.get().orElseThrow().close();
    }
  }

  /** The broker may answer a declare by closing the connection, and an alarm stops publishers. */
  @Test
  void theConnectionThatHoldsNeitherDeclaresNorPublishes(Broker broker) throws Exception {
    String name = fixture.prefix();
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(name));
    try (Lease lease = locks.mutex("m").tryAcquire().orElseThrow()) {
      assertThat(broker.faults().connections())
          .contains(name + " holder", name + " side", name + " announcer");
      broker.faults().closeConnections(name + " side", "test");
      broker.faults().closeConnections(name + " announcer", "test");
      await()
          .ignoreExceptionsInstanceOf(LockException.class)
          .untilAsserted(() -> locks.mutex("new").tryAcquire().orElseThrow().close());
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  /** The connection that declares was idle and closed, and many clients may connect just then. */
  @Test
  void whoWaitedForLongIsServedWithoutAnotherConnection(Broker broker) throws Exception {
    String name = fixture.prefix();
    AmqpLocks holds = fixture.open();
    Lease held = holds.mutex("m").tryAcquire().orElseThrow();
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks waits = fixture.open(fixture.builder(factory).connectionName(name));
      CompletableFuture<Lease> waiting = waits.mutex("m").acquireAsync(Duration.ofMinutes(1));
      await().until(() -> broker.faults().connections().contains(name + " side"));
      // The first look of a waiter is after a tenth of a second.
      await().pollDelay(Duration.ofSeconds(3)).until(() -> !waiting.isDone());
      proxy.refuse(true);
      broker.faults().closeConnections(name + " side", "test");
      await().until(() -> !broker.faults().connections().contains(name + " side"));
      held.close();
      waiting.get(20, TimeUnit.SECONDS).close();
    }
  }

  /** What was found out a second ago counts no more, so the broker is asked for all of it. */
  private static void findBusy(AmqpLock mutex) {
    letSecondPass();
    assertThat(mutex.tryAcquire()).isEmpty();
  }

  private static void letSecondPass() {
    await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
  }

  /** The least of a few measurements, for one that was interrupted by a pause counts too many. */
  private static int trips(RoundTrips trips, int right, Callable<?> call) throws Exception {
    return trips(trips, right, () -> {}, call);
  }

  private static int trips(RoundTrips trips, int right, Step before, Callable<?> call)
      throws Exception {
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < 10 && least > right; i++) {
      before.run();
      int begun = trips.count();
      call.call();
      least = Math.min(least, trips.count() - begun);
    }
    return least;
  }

  private interface Step {
    void run() throws Exception;
  }
}
