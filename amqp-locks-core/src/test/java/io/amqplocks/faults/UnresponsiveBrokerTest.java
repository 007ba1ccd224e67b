package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What does not answer must not keep what does from being asked. */
@BrokerTest(everyLine = true, ownBroker = true)
class UnresponsiveBrokerTest {

  /** So few that tries which keep one each use them up at once. */
  private static final int MOST_CHANNELS = 32;

  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close(Broker broker) throws Exception {
    broker.faults().heal();
  }

  /**
   * A machine that stalls for some heartbeats costs all leases of the session. So there may be a
   * second try. If the queues cost them, it would be lost too.
   */
  @Tag("defect-L4")
  @Test
  void slotsWhoseQueuesHangMakeNoOtherLeaseUncertain(Broker broker) throws Exception {
    if (!stayWhileTheQueuesOfSlotsHang(broker, "first")) {
      assertThat(stayWhileTheQueuesOfSlotsHang(broker, "second")).as("no lease is LOST").isTrue();
    }
  }

  private static boolean areLost(List<Lease> leases) {
    return leases.stream().anyMatch(lease -> lease.state() == LeaseState.LOST);
  }

  /** Returns false if a lease is LOST. Else all must have been HELD nearly all the time. */
  private boolean stayWhileTheQueuesOfSlotsHang(Broker broker, String name) throws Exception {
    int slots = 60;
    AmqpLocks locks =
        fixture.connected(
            fixture
                .builder()
                .heartbeat(Duration.ofSeconds(2))
                .callTimeout(Duration.ofSeconds(2))
                .verifyEvery(Duration.ofMillis(500)));
    fixture.create(fixture.open(), name, slots);
    List<Lease> leases = new ArrayList<>();
    AmqpLock semaphore = locks.slotSemaphore(name);
    for (int i = 0; i < slots; i++) {
      leases.add(semaphore.acquire(Duration.ofSeconds(20)));
    }
    leases.add(locks.mutex(name).acquire(Duration.ofSeconds(20)));
    for (int i = 1; i <= slots; i++) {
      broker.faults().suspendQueue(fixture.names().slot(LockName.of(name), i));
    }
    int[] looks = new int[2];
    await()
        .pollInterval(Duration.ofMillis(20))
        .during(Duration.ofSeconds(7))
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              looks[0]++;
              looks[1] += leases.stream().allMatch(l -> l.state() == LeaseState.HELD) ? 0 : 1;
              return true;
            });
    System.out.printf("60 queues hang: not all held in %d of %d looks%n", looks[1], looks[0]);
    for (int i = 1; i <= slots; i++) {
      broker.faults().resumeQueue(fixture.names().slot(LockName.of(name), i));
    }
    if (areLost(leases)) {
      return false;
    }
    // Of old the mutex was UNCERTAIN most of the time; a busy machine may cause some of it.
    assertThat(looks[1]).isLessThan(looks[0] / 4);
    await()
        .until(
            () -> areLost(leases) || leases.stream().allMatch(l -> l.verify() == LeaseState.HELD));
    return !areLost(leases);
  }

  /** Their verifications wait for the broker, each on a thread, and there are 128 of those. */
  @Test
  void mutexesWhoseQueuesHangDelayNoSignOfLife(Broker broker) throws Exception {
    int hanging = 140;
    AmqpLocks locks =
        fixture.connected(
            fixture
                .builder()
                .heartbeat(Duration.ofSeconds(10))
                .certainFor(Duration.ofSeconds(2))
                .verifyEvery(Duration.ofMillis(500)));
    List<Lease> leases = new ArrayList<>();
    for (int i = 1; i <= hanging; i++) {
      leases.add(locks.mutex("m" + i).acquire(Duration.ofSeconds(20)));
    }
    Lease other = locks.mutex("other").acquire(Duration.ofSeconds(20));
    for (int i = 1; i <= hanging; i++) {
      broker.faults().suspendQueue(fixture.names().mutex(LockName.of("m" + i)));
    }
    int[] looks = new int[2];
    await()
        .pollInterval(Duration.ofMillis(20))
        .during(Duration.ofSeconds(6))
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              looks[0]++;
              looks[1] += other.state() == LeaseState.HELD ? 0 : 1;
              return true;
            });
    // Behind the verifications it was UNCERTAIN most of the time. A busy machine may cause some.
    assertThat(looks[1]).isLessThan(looks[0] / 4);
    for (int i = 1; i <= hanging; i++) {
      broker.faults().resumeQueue(fixture.names().mutex(LockName.of("m" + i)));
    }
    await().until(() -> leases.stream().allMatch(l -> l.verify() == LeaseState.HELD));
  }

  /** Each try would wait on a channel of its own, until none is left for all other locks. */
  @Tag("trap-6")
  @ParameterizedTest
  @ValueSource(strings = {"mutex", "tokens", "write"})
  void whoTriesAgainAndAgainUsesUpNoChannels(String kind, Broker broker) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setRequestedChannelMax(MOST_CHANNELS);
    AmqpLocks owner = fixture.open();
    owner.admin().tokenSemaphore("x").create(1, TokenQueueType.CLASSIC);
    AmqpLock used = LockArgument.lock(owner, kind + ":x");
    Fixture.first(used).close();
    String queue = queue(broker, kind);
    AmqpLocks locks =
        fixture.connected(fixture.builder(factory).callTimeout(Duration.ofMillis(100)));
    Fixture.first(locks.mutex("other")).close();
    broker.faults().suspendQueue(queue);
    AmqpLock hanging = LockArgument.lock(locks, kind + ":x");
    // At first it is not known yet, and then it is.
    assertOthersAreServed(locks, hanging);
    broker.faults().resumeQueue(queue);
    Fixture.first(hanging).close();
    broker.faults().suspendQueue(queue);
    assertOthersAreServed(locks, hanging);
    broker.faults().resumeQueue(queue);
    Fixture.first(hanging).close();
  }

  private String queue(Broker broker, String kind) {
    LockName name = LockName.of("x");
    return switch (kind) {
      case "mutex" -> fixture.names().mutex(name);
      case "tokens" ->
          broker.faults().queues().stream()
              .map(BrokerQueue::name)
              .filter(each -> each.startsWith(fixture.prefix()) && each.contains("x.tokens."))
              .findFirst()
              .orElseThrow();
      default -> fixture.names().readWrite(name);
    };
  }

  private static void assertOthersAreServed(AmqpLocks locks, AmqpLock hanging) {
    for (int i = 0; i < 2 * MOST_CHANNELS; i++) {
      assertThatThrownBy(hanging::tryAcquire).isInstanceOf(LockException.Unanswered.class);
    }
    Fixture.first(locks.mutex("other")).close();
  }

  @Tag("defect-L2")
  @Test
  void asynchronousCallsKeepTheirBoundWhileTheBrokerIsFrozen(Broker broker) throws Exception {
    int number = 1_500;
    Duration bound = Duration.ofSeconds(4);
    AmqpLocks locks =
        fixture.open(fixture.builder().heartbeat(Duration.ofSeconds(20)).callTimeout(bound));
    await().ignoreExceptions().until(() -> locks.mutex("m").tryAcquire().isPresent());
    broker.faults().freeze();
    long start = System.nanoTime();
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      calls.add(locks.mutex("m" + i).acquireAsync(bound));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).exceptionally(e -> null);
    // Of old 256 at most were asked for at a time, and each of six such lots took four seconds.
    all.get(30, TimeUnit.SECONDS);
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    System.out.printf(
        "%d acquireAsync(4 s), broker frozen: all done after %d ms%n", number, took.toMillis());
    assertThat(took).isLessThan(Duration.ofSeconds(20));
    for (CompletableFuture<Lease> each : calls) {
      assertThat(each.handle((lease, failure) -> failure).join())
          .satisfiesAnyOf(
              failure -> assertThat(failure).isInstanceOf(LockException.Unanswered.class),
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CompletionException.class)
                      .hasCauseInstanceOf(LockException.Unanswered.class));
    }
    broker.faults().thaw();
    assertThat(locks.mutex("m7").acquire(Duration.ofMinutes(2)).verify())
        .isEqualTo(LeaseState.HELD);
  }
}
