package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.QueueNaming;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.PythonStandIn;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One semaphore shared with clients of the amqp-locks-python kind. */
@BrokerTest(everyLine = true)
class PythonInteroperationTest {

  private static final int SLOTS = 3;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private String name;
  private PythonStandIn python;
  private AmqpLocks ours;

  @BeforeEach
  void open(Broker broker) throws Exception {
    name = fixture.prefix() + "shared";
    python = new PythonStandIn(broker, name);
    ours = fixture.open(fixture.builder().naming(QueueNaming.amqpLocksPython()));
  }

  @AfterEach
  void close() throws Exception {
    python.destroy(2 * SLOTS);
    python.close();
  }

  @Test
  void weTakeTheSlotsThatTheyLeaveAndTheyOurs() throws Exception {
    python.create(SLOTS);
    AmqpLock semaphore = ours.slotSemaphore(name);
    assertThat(ours.admin().slotSemaphore(name).count()).isEqualTo(SLOTS);
    assertThat(python.tryAcquire()).hasValue(1);
    Lease second = semaphore.tryAcquire().orElseThrow();
    Lease third = semaphore.tryAcquire().orElseThrow();
    assertThat(Set.of(second.slot(), third.slot())).containsExactlyInAnyOrder(2, 3);
    assertThat(semaphore.tryAcquire()).isEmpty();
    assertThat(python.tryAcquire()).isEmpty();
    assertThat(ours.admin().slotSemaphore(name).holders()).containsExactly(1, 2, 3);
    second.close();
    assertThat(python.tryAcquire()).hasValue(second.slot());
    python.release(1);
    try (Lease first = semaphore.tryAcquire().orElseThrow()) {
      assertThat(first.slot()).isEqualTo(1);
      assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    }
    assertThat(third.verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void theyTakeTheSlotsThatWeAdministrate() throws Exception {
    ours.admin().slotSemaphore(name).create(1);
    ours.admin().slotSemaphore(name).resize(2);
    assertThat(python.tryAcquire()).hasValue(1);
    assertThat(python.tryAcquire()).hasValue(2);
    assertThat(python.tryAcquire()).isEmpty();
    assertThat(ours.slotSemaphore(name).tryAcquire()).isEmpty();
    python.destroy(2);
    assertThat(ours.admin().slotSemaphore(name).count()).isZero();
  }

  /** Theirs go with the broker, ours do not. */
  @Test
  void slotsThatStayAreNotAddedToSuchAsGo() throws Exception {
    python.create(2);
    assertThatThrownBy(() -> ours.admin().slotSemaphore(name).resize(4))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("not durable");
    assertThat(ours.admin().slotSemaphore(name).count()).isEqualTo(2);
    assertThat(fixture.exists(name + "-A-4")).isFalse();
  }

  /** As after a restart, where both kinds had added some. */
  @Test
  void slotsThatDoNotCountAreNamed() throws Exception {
    ours.admin().slotSemaphore(name).create(4);
    fixture.delete(name + "-A-1");
    fixture.delete(name + "-A-2");
    assertThatThrownBy(() -> ours.slotSemaphore(name).tryAcquire())
        .isInstanceOf(LockException.NotFound.class)
        .hasMessageContaining("slots [3, 4] do not count");
    ours.admin().slotSemaphore(name).create(4);
    assertThat(ours.slotSemaphore(name).tryAcquire()).hasValueSatisfying(Lease::close);
  }

  /** Whoever looks for a free slot leaves a message in a queue that keeps them. */
  @Test
  void probesThatPileUpAreRemovedAndWhatOthersWroteIsNot(Broker broker) throws Exception {
    String queue = name + "-A-1";
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "classic"));
      AmqpLock semaphore = ours.slotSemaphore(name);
      try (Lease held = semaphore.tryAcquire().orElseThrow()) {
        for (int i = 0; i < 150; i++) {
          assertThat(semaphore.tryAcquire()).isEmpty();
        }
        assertThat(held.verify()).isEqualTo(LeaseState.HELD);
        await().untilAsserted(() -> assertThat(channel.messageCount(queue)).isLessThan(10));
        channel.confirmSelect();
        channel.basicPublish("", queue, null, new byte[] {1});
        channel.waitForConfirmsOrDie(30_000);
        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(held.verify()).isEqualTo(LeaseState.HELD);
        assertThat(channel.messageCount(queue)).isPositive();
      }
    }
  }

  @Test
  void neverMoreHoldersThanSlotsOfBothKindsTogether(Broker broker) throws Exception {
    python.create(SLOTS);
    Set<Integer> held = ConcurrentHashMap.newKeySet();
    AtomicInteger theirs = new AtomicInteger();
    AtomicInteger mine = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(6);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        AmqpLock semaphore = ours.slotSemaphore(name);
        all.add(threads.submit(() -> contend(semaphore, held, mine)));
        all.add(threads.submit(() -> contend(broker, held, theirs)));
      }
      for (Future<?> each : all) {
        each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(mine).hasValue(60);
    assertThat(theirs.get()).isPositive();
  }

  private static Void contend(AmqpLock semaphore, Set<Integer> held, AtomicInteger count)
      throws Exception {
    for (int round = 0; round < 20; round++) {
      try (Lease lease = semaphore.acquire(Duration.ofSeconds(30))) {
        assertThat(held.add(lease.slot())).isTrue();
        count.incrementAndGet();
        held.remove(lease.slot());
      }
    }
    return null;
  }

  private Void contend(Broker broker, Set<Integer> held, AtomicInteger count) throws Exception {
    try (PythonStandIn other = new PythonStandIn(broker, name)) {
      for (int round = 0; round < 40; round++) {
        OptionalInt slot = other.tryAcquire();
        if (slot.isPresent()) {
          assertThat(held.add(slot.getAsInt())).isTrue();
          count.incrementAndGet();
          held.remove(slot.getAsInt());
          other.release(slot.getAsInt());
        }
      }
    }
    return null;
  }

  @Test
  void aSchemeWithNamesTooLongIsToldByTheLock() {
    QueueNaming tooLong =
        new QueueNaming() {
          @Override
          public String mutex(LockName mutex) {
            return "x".repeat(200) + mutex;
          }

          @Override
          public String slot(LockName semaphore, int slot) {
            return "amq." + semaphore + slot;
          }

          @Override
          public String holder(LockName semaphore, int slot) {
            return semaphore + "-" + slot;
          }

          @Override
          public String admin(LockName semaphore) {
            return semaphore.value();
          }
        };
    AmqpLocks locks = fixture.open(fixture.builder().naming(tooLong));
    assertThatThrownBy(() -> locks.exclusiveQueueMutex("y".repeat(56)).tryAcquire())
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("256 bytes");
    assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("amq.");
  }
}
