package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.RoundTrips;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How often an administrator has to wait for the broker, whatever the number of slots. */
@BrokerTest(everyLine = true)
class SlotAdminRoundTripsTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void slotsAreCountedAndHoldersListedInRoundTripsThatDoNotGrow(Broker broker) throws Exception {
    try (RoundTrips trips = new RoundTrips(broker)) {
      AmqpLocks direct = fixture.open();
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost("127.0.0.1");
      factory.setPort(trips.port());
      // So rare heartbeats are no part of any trip, and a slow test loses no connection.
      AmqpLocks counted =
          fixture.open(
              fixture
                  .builder(factory)
                  .heartbeat(Duration.ofMinutes(5))
                  .callTimeout(Duration.ofMinutes(1)));
      SlotSemaphoreAdmin admin = counted.admin().slotSemaphore("s");
      fixture.create(direct, "s", 10);
      Lease lease = direct.slotSemaphore("s").tryAcquire().orElseThrow();
      // Opens connections and channels; a new session then looks at its broker in the background.
      admin.count();
      await().pollDelay(Duration.ofSeconds(2)).atMost(Duration.ofMinutes(1)).until(quiet(trips));

      List<Integer> counting = new ArrayList<>();
      List<Integer> listing = new ArrayList<>();
      for (int slots : List.of(10, 100, 1_000)) {
        direct.admin().slotSemaphore("s").resize(slots);
        counting.add(trips(trips, 1, () -> assertThat(admin.count()).isEqualTo(slots)));
        listing.add(
            trips(trips, 2, () -> assertThat(admin.holders()).isEqualTo(Set.of(lease.slot()))));
      }

      assertThat(counting).containsExactly(1, 1, 1);
      // It also looks 100 slots further; one trip carries 1,280 questions.
      assertThat(listing).containsExactly(2, 2, 2);
    }
  }

  /** Whether there was no trip since a second. */
  private static Callable<Boolean> quiet(RoundTrips trips) {
    AtomicInteger last = new AtomicInteger(-1);
    AtomicLong at = new AtomicLong(System.nanoTime());
    return () -> {
      if (last.getAndSet(trips.count()) != trips.count()) {
        at.set(System.nanoTime());
      }
      return System.nanoTime() - at.get() > 1_000_000_000L;
    };
  }

  /** The least of a few measurements, for one that was interrupted by a pause counts too many. */
  private static int trips(RoundTrips trips, int right, Callable<?> call) throws Exception {
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < 10 && least > right; i++) {
      int before = trips.count();
      call.call();
      least = Math.min(least, trips.count() - before);
    }
    return least;
  }
}
