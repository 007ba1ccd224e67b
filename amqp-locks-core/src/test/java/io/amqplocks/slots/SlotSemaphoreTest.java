package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DefaultConsumer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.SlotOrder;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@BrokerTest(everyLine = true)
class SlotSemaphoreTest {

  private static final LockName NAME = LockName.of("s");

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void asManyHoldersAsSlots() throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "s", 3);
    AmqpLock mine = locks.slotSemaphore("s");
    AmqpLock theirs = fixture.open().slotSemaphore("s");
    List<Lease> leases =
        List.of(
            mine.tryAcquire().orElseThrow(),
            theirs.tryAcquire().orElseThrow(),
            mine.tryAcquire().orElseThrow());
    Set<Integer> slots = new HashSet<>();
    leases.forEach(lease -> slots.add(lease.slot()));
    assertThat(slots).containsExactlyInAnyOrder(1, 2, 3);
    assertThat(theirs.tryAcquire()).isEmpty();
    assertThat(mine.tryAcquire()).isEmpty();
    leases.get(1).close();
    try (Lease again = mine.tryAcquire().orElseThrow()) {
      assertThat(again.slot()).isEqualTo(leases.get(1).slot());
      assertThat(again.verify()).isEqualTo(LeaseState.HELD);
    }
    leases.forEach(Lease::close);
    for (int slot : slots) {
      assertThat(fixture.exists(fixture.names().holder(NAME, slot))).isFalse();
      assertThat(fixture.exists(fixture.names().slot(NAME, slot))).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachOrderFindsEachSlot(SlotOrder order) throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().slotOrder(order));
    fixture.create(locks, "s", 4);
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      leases.add(locks.slotSemaphore("s").tryAcquire().orElseThrow());
    }
    assertThat(leases).extracting(Lease::slot).containsExactlyInAnyOrder(1, 2, 3, 4);
    if (order == SlotOrder.ASCENDING) {
      assertThat(leases).extracting(Lease::slot).containsExactly(1, 2, 3, 4);
    }
    assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
    leases.forEach(Lease::close);
    if (order == SlotOrder.REMEMBERED) {
      int last = leases.get(3).slot();
      assertThat(locks.slotSemaphore("s").tryAcquire().orElseThrow().slot()).isEqualTo(last);
    }
  }

  @Test
  void neverMoreHoldersThanSlotsAsTheBrokerCounts(Broker broker) throws Exception {
    int slots = 5;
    fixture.create(fixture.open(), "s", slots);
    String witness = fixture.prefix() + "witness";
    AtomicInteger most = new AtomicInteger();
    AtomicInteger acquired = new AtomicInteger();
    CountDownLatch full = new CountDownLatch(slots);
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try (Connection connection = broker.connectionFactory().newConnection("witness")) {
      connection.createChannel().queueDeclare(witness, true, false, false, null);
      List<AmqpLocks> processes = IntStream.range(0, 4).mapToObj(i -> fixture.open()).toList();
      List<Future<?>> contenders = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        AmqpLock semaphore = processes.get(i % processes.size()).slotSemaphore("s");
        Channel channel = connection.createChannel();
        contenders.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < 20; round++) {
                    try (Lease lease = semaphore.acquire(Duration.ofMinutes(1))) {
                      most.accumulateAndGet(consumeWhileHolding(channel, witness, full), Math::max);
                      acquired.incrementAndGet();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : contenders) {
        each.get(120, TimeUnit.SECONDS);
      }
      connection.createChannel().queueDelete(witness);
    } finally {
      threads.shutdownNow();
    }
    assertThat(acquired).hasValue(16 * 20);
    assertThat(most).hasValue(slots);
  }

  /**
   * Each holder is a consumer of a queue meanwhile, so the broker itself counts the holders. The
   * first ones hold until all slots are taken.
   */
  private static int consumeWhileHolding(Channel channel, String witness, CountDownLatch full)
      throws Exception {
    String tag = channel.basicConsume(witness, new DefaultConsumer(channel));
    full.countDown();
    assertThat(full.await(60, TimeUnit.SECONDS)).isTrue();
    int holders = channel.queueDeclarePassive(witness).getConsumerCount();
    channel.basicCancel(tag);
    return holders;
  }

  @Test
  void theHolderOfARemovedSlotLetsGo() throws Exception {
    Duration period = Duration.ofMillis(500);
    AmqpLocks locks = fixture.open(fixture.builder().verifyEvery(period));
    fixture.create(locks, "s", 1);
    Lease lease = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    fixture.delete(fixture.names().slot(NAME, 1));
    // The next pass finds it. Nothing else would.
    await().until(() -> lease.state() == LeaseState.LOST);
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.SLOT_REMOVED));
    await().until(() -> !fixture.exists(fixture.names().holder(NAME, 1)));
    assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
        .isInstanceOf(LockException.NotFound.class);
  }

  @Test
  void creatingIsIdempotentAndTellsOfAConflict() throws Exception {
    AmqpLocks locks = fixture.open();
    assertThat(locks.admin().slotSemaphore("s").count()).isZero();
    fixture.create(locks, "s", 4);
    fixture.create(fixture.open(), "s", 4);
    assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(4);
    assertThatThrownBy(() -> locks.admin().slotSemaphore("s").create(5))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("semaphore 's'")
        .hasMessageContaining("4 slots and not 5");
    assertThat(locks.admin().slotSemaphore("s").createIfAbsent(9)).isEqualTo(4);
    assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(4);
  }

  @Test
  void whatAnInterruptedCreationLeftDoesNotCount() throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "s", 8);
    // As if the administrator had died with the first three slots still to be declared.
    for (int slot = 3; slot >= 1; slot--) {
      fixture.delete(fixture.names().slot(NAME, slot));
    }
    assertThat(locks.admin().slotSemaphore("s").count()).isZero();
    locks.admin().slotSemaphore("s").create(4);
    assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(4);
  }

  /** Creating takes longer here than a lease is certain without being verified. */
  @Test
  void creatingManySlotsOutlastsTheCertaintyOfItsMutex(Broker broker) throws Exception {
    Duration heartbeat = Duration.ofSeconds(8);
    int slots = 200;
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks =
          fixture.connected(fixture.builder(factory).heartbeat(heartbeat).callTimeout(heartbeat));
      assertThat(locks.admin().slotSemaphore("s").count()).isZero();
      // Each slot takes two answers, one of them about the mutex.
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(40));
      long start = System.nanoTime();
      locks.admin().slotSemaphore("s").create(slots);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isGreaterThan(heartbeat.multipliedBy(7).dividedBy(4));
      assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(slots);
    }
  }

  @Tag("trap-3")
  @Test
  void policiesOnOverflowDoNotMisleadTheProbes(Broker broker) throws Exception {
    String policy = fixture.prefix() + "hostile";
    broker
        .faults()
        .setPolicy(
            policy,
            "^" + fixture.prefix(),
            "queues",
            "{\"overflow\":\"reject-publish\",\"max-length\":5,\"message-ttl\":60000}");
    try {
      AmqpLocks locks = fixture.open();
      fixture.create(locks, "s", 2);
      Lease one = locks.slotSemaphore("s").tryAcquire().orElseThrow();
      Lease two = locks.slotSemaphore("s").tryAcquire().orElseThrow();
      assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
      one.close();
      locks.slotSemaphore("s").tryAcquire().orElseThrow().close();
      two.close();
    } finally {
      broker.faults().clearPolicy(policy);
    }
  }

  @Test
  void manyCreateAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> created = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        AmqpLocks locks = fixture.open();
        created.add(threads.submit(() -> locks.admin().slotSemaphore("s").createIfAbsent(3)));
      }
      for (Future<Integer> each : created) {
        assertThat(each.get(60, TimeUnit.SECONDS)).isEqualTo(3);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aHundredSlotsAreFoundFromAColdStart() throws Exception {
    fixture.create(fixture.open(), "s", 100);
    AmqpLock semaphore = fixture.open().slotSemaphore("s");
    Set<Integer> slots = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      slots.add(semaphore.tryAcquire().orElseThrow().slot());
    }
    assertThat(slots).hasSize(100);
    assertThat(semaphore.tryAcquire()).isEmpty();
  }
}
