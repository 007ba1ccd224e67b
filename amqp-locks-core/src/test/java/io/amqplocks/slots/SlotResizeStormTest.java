package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ResizerMain;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two administrators, one of them killed again and again, and sixteen contenders, for 20 seconds or
 * more.
 */
@Tag("trap-15")
@BrokerTest
@Tag("one-jdk")
@Order(1) // of the longest
class SlotResizeStormTest {

  private static final int MOST = 20;
  private static final Duration PERIOD = Duration.ofMillis(500);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<Integer, Lease> holders = new ConcurrentHashMap<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger acquired = new AtomicInteger();
  private final AtomicInteger unanswered = new AtomicInteger();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @BeforeEach
  void fixture() {}

  @AfterEach
  void close() throws Exception {
    over.set(true);
    threads.shutdownNow();
  }

  private AmqpLocks open() {
    return fixture.open(fixture.builder().verifyEvery(PERIOD));
  }

  @Test
  void slotsStayWithoutHolesAndNoneHasTwoHolders(Broker broker) throws Exception {
    SlotSemaphoreAdmin admin = open().admin().slotSemaphore("s");
    admin.create(5);
    List<Future<?>> contenders = new ArrayList<>();
    for (int process = 0; process < 4; process++) {
      AmqpLock semaphore = open().slotSemaphore("s");
      for (int i = 0; i < 4; i++) {
        contenders.add(threads.submit(() -> contend(semaphore)));
      }
    }
    storm(broker, admin);

    int slots = admin.count();
    Set<Integer> removed = range(slots + 1, 2 * MOST);
    assertThat(admin.awaitDrained(removed, Duration.ofSeconds(30)))
        .as("holders of removed slots let go")
        .isTrue();
    await().untilAsserted(() -> assertThat(admin.holders()).allMatch(slot -> slot <= slots));
    over.set(true);
    for (Future<?> each : contenders) {
      each.get(60, TimeUnit.SECONDS);
    }
    admin.prune(2 * MOST);
    for (int slot = 1; slot <= 2 * MOST; slot++) {
      assertThat(fixture.exists(fixture.names().slot(LockName.of("s"), slot)))
          .as("slot %d of %d", slot, slots)
          .isEqualTo(slot <= slots);
    }
    assertThat(acquired.get())
        .isGreaterThan(contenders.size())
        .isGreaterThan(10 * unanswered.get());
    await().until(() -> admin.holders().isEmpty());
  }

  private void storm(Broker broker, SlotSemaphoreAdmin admin) throws Exception {
    Random random = new Random(7);
    long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    int killed = 0;
    while (System.nanoTime() < end || killed <= 3) {
      try (ChildJvm other =
          ChildJvm.of(ResizerMain.class).args(broker.uri(), fixture.prefix(), "s").start()) {
        other.awaitLine("RESIZED", Duration.ofSeconds(90));
        for (int i = 0; i < 5; i++) {
          resize(admin, random);
        }
        other.killNow();
        killed++;
      }
    }
    // Whatever the dead one left half-way, the next change makes good.
    admin.resize(7);
    assertThat(admin.count()).isEqualTo(7);
  }

  /**
   * The other one takes its next turn as soon as its last one has ended. On a busy machine it can
   * be faster each time for half a minute: turns of administrators are not fair.
   */
  private static void resize(SlotSemaphoreAdmin admin, Random random) {
    try {
      var unused =
          admin.resize(
              random.nextInt(MOST + 1),
              random.nextBoolean() ? DeleteOrder.ASCENDING : DeleteOrder.DESCENDING);
    } catch (LockException.AcquireTimeout e) {
      assertThat(e).hasMessageContaining("Another administrator of slot semaphore 's' is at work");
    }
  }

  private Void contend(AmqpLock semaphore) throws InterruptedException {
    while (!over.get()) {
      try (Lease lease = semaphore.acquire(Duration.ofSeconds(1))) {
        holders.merge(lease.slot(), lease, this::requireNoOther);
        acquired.incrementAndGet();
        LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        holders.remove(lease.slot(), lease);
      } catch (LockException.Unanswered e) {
        // The machine stalls.
        unanswered.incrementAndGet();
      } catch (LockException.NotFound | LockException.AcquireTimeout e) {
        // The semaphore has no slots for now, or too few.
        LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
      }
    }
    return null;
  }

  /** A lease is LOST before its slot is given up, so two that are not lost are a double hold. */
  private Lease requireNoOther(Lease before, Lease now) {
    assertThat(before.state())
        .as("slot %d taken by another", now.slot())
        .isEqualTo(LeaseState.LOST);
    return now;
  }

  private static Set<Integer> range(int from, int to) {
    return new SlotChange(to, from - 1).removed();
  }
}
