package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true, ownBroker = true)
class MarkerFaultTest {

  private static final Duration AT_LEAST = Duration.ofSeconds(60);

  private static final Duration SHORT = Duration.ofSeconds(1);

  private static final Duration BEFORE = Duration.ofSeconds(10);

  private final AtomicReference<Markers> markers = new AtomicReference<>();

  @AfterEach
  void close() {
    Optional.ofNullable(markers.get()).ifPresent(Markers::close);
  }

  @Test
  void lockAtLeastForOutlastsTheBrokerAndIsNotProlonged(Broker broker) {
    try (AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, broker.connectionFactory())) {
      boolean shown = false;
      // On a busy machine a restart may take longer than the lock is kept.
      for (int i = 0; i < 3 && !shown; i++) {
        shown = outlastsARestart(broker, provider, "restarted-" + i);
      }
      assertThat(shown).isTrue();
    }
  }

  /** False if the restart took too long. */
  private static boolean outlastsARestart(Broker broker, AmqpLockProvider provider, String job) {
    LockConfiguration wanted =
        new LockConfiguration(Instant.now(), job, Duration.ofMinutes(5), AT_LEAST);
    long begin = System.nanoTime();
    provider.lock(wanted).orElseThrow().unlock();
    // Long enough to tell a marker that goes on from one that begins anew.
    await().atMost(BEFORE.multipliedBy(3)).until(() -> sinceThen(begin).compareTo(BEFORE) > 0);
    broker.faults().restart();
    Optional<SimpleLock> early = retrying(provider, wanted);
    if (sinceThen(begin).compareTo(AT_LEAST) >= 0) {
      early.ifPresent(SimpleLock::unlock);
      return false;
    }
    assertThat(early).isEmpty();
    Optional<SimpleLock> next =
        await()
            .atMost(Duration.ofMinutes(2))
            .pollInterval(Duration.ofMillis(200))
            .until(() -> retrying(provider, wanted), Optional::isPresent);
    assertThat(sinceThen(begin)).isBetween(AT_LEAST, AT_LEAST.plus(BEFORE));
    next.orElseThrow().unlock();
    return true;
  }

  @Test
  void noMarkerNoLock(Broker broker) {
    LockConfiguration free =
        new LockConfiguration(Instant.now(), "late", Duration.ofMinutes(5), Duration.ZERO);
    LockConfiguration kept =
        new LockConfiguration(Instant.now(), "late", Duration.ofMinutes(5), Duration.ofSeconds(3));
    String queue = AmqpLockProvider.DEFAULT_QUEUE_PREFIX + "shedlock.late";
    ConnectionFactory hanging =
        new HarmingFactory(
            broker.connectionFactory(), channel -> broker.faults().suspendQueue(queue));
    try (AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, hanging)) {
      provider.lock(free).orElseThrow().unlock();
      try {
        assertThatThrownBy(() -> provider.lock(kept))
            .isInstanceOf(LockException.Unreachable.class)
            .hasMessageContaining("late");
        assertThat(locks.leases()).isEmpty();
      } finally {
        broker.faults().resumeQueue(queue);
      }
      // The marker that came too late keeps the lock for its time, and not for longer.
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> retrying(provider, free), Optional::isPresent)
          .orElseThrow()
          .unlock();
    }
  }

  /** The rights on the mutex's own queues are not enough. No wait ends that. */
  @Test
  void missingPermissionsAreNoOutage(Broker broker) {
    broker.faults().addUser("no-markers", "secret", "", "", "");
    ConnectionFactory other = broker.connectionFactory();
    other.setUsername("no-markers");
    other.setPassword("secret");
    assertRefused(other, "configure, write and read of queue 'own.shedlock.refused'");
  }

  @Test
  void aWrongPasswordIsNoOutage(Broker broker) {
    ConnectionFactory other = broker.connectionFactory();
    other.setPassword("wrong");
    // Or else the broker says why only to clients that say they understand it.
    other.setClientProperties(Map.of("product", "shop"));
    assertRefused(other, "ACCESS_REFUSED");
  }

  private void assertRefused(ConnectionFactory other, String text) {
    Markers refused = new Markers(other, List.of(), "own.");
    markers.set(refused);
    assertThatThrownBy(() -> refused.markUnlessMarked("refused", AT_LEAST))
        .isInstanceOf(LockException.Refused.class)
        .hasMessageContaining(text)
        .hasMessageNotContaining("java.io.IOException")
        .extracting(error -> ((LockException) error).isOutage())
        .isEqualTo(false);
  }

  @Test
  void aQueueOfAnotherKindIsNoOutage(Broker broker) throws Exception {
    Markers others = new Markers(broker.connectionFactory(), List.of(), "other.");
    markers.set(others);
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      Map<String, Object> otherwise = Map.of("x-max-length", 7);
      stranger.createChannel().queueDeclare("other.shedlock.kind", true, false, false, otherwise);
      assertThatThrownBy(() -> others.markUnlessMarked("kind", AT_LEAST))
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("Queue 'other.shedlock.kind'");
      stranger.createChannel().queueDelete("other.shedlock.kind");
    }
  }

  @Tag("trap-6")
  @Test
  void aQueueThatHangsCostsOthersNothing(Broker broker) {
    Markers hanging = new Markers(broker.connectionFactory(), List.of(), "hanging.");
    markers.set(hanging);
    hanging.mark("hangs", Duration.ZERO);
    broker.faults().suspendQueue("hanging.shedlock.hangs");
    try {
      assertThatThrownBy(() -> hanging.mark("hangs", SHORT))
          .isInstanceOf(LockException.Unreachable.class)
          .hasMessageContaining("hangs");
      assertThatThrownBy(() -> hanging.mark("hangs", SHORT))
          .as("it is not asked again")
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining("hanging.shedlock.hangs");
      assertThat(hanging.markUnlessMarked("other", AT_LEAST)).isTrue();
      assertThat(hanging.markUnlessMarked("other", AT_LEAST)).isFalse();
    } finally {
      broker.faults().resumeQueue("hanging.shedlock.hangs");
    }
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
        .untilAsserted(() -> hanging.mark("hangs", SHORT));
  }

  @Test
  void aConnectionWithoutAFreeChannelIsSaidToBeOne(Broker broker) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setRequestedChannelMax(1);
    // While one thread publishes, another one looks.
    markers.set(
        new Markers(
            new HarmingFactory(factory, channel -> markers.get().mark("second", SHORT)),
            List.of(),
            "few."));
    assertThatThrownBy(() -> markers.get().mark("first", SHORT))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("All channels")
        .hasMessageContaining("second");
    // The channel of the one that failed is closed in the background.
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
        .untilAsserted(() -> markers.get().mark("first", Duration.ZERO));
  }

  /** The broker reads from a connection under an alarm until that has published. */
  @Tag("trap-4")
  @Test
  void anAlarmUsesUpNoChannels(Broker broker) {
    AtomicBoolean over = new AtomicBoolean();
    ConnectionFactory factory = broker.connectionFactory();
    factory.setRequestedChannelMax(2);
    factory.setChannelRpcTimeout(5_000);
    HarmingFactory.Harm another =
        channel -> {
          if (over.getAndSet(false)) {
            markers.get().mark("second", SHORT);
          }
        };
    markers.set(new Markers(new HarmingFactory(factory, another), List.of(), "alarmed."));
    broker.faults().memoryAlarm(true);
    try {
      markers.get().mark("first", SHORT);
      assertThatThrownBy(() -> markers.get().mark("first", SHORT))
          .isInstanceOf(LockException.Unreachable.class);
    } finally {
      broker.faults().memoryAlarm(false);
    }
    over.set(true);
    markers.get().mark("first", SHORT);
    assertThat(over).isFalse();
  }

  private static Duration sinceThen(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  /** The first calls after a restart find out that their connections are gone. */
  private static Optional<SimpleLock> retrying(
      AmqpLockProvider provider, LockConfiguration wanted) {
    return await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> provider.lock(wanted), answer -> true);
  }

  /** However many nodes there are, and however many call. */
  @Test
  void connectingIsBoundedAndDoneByOne(Broker broker) throws Exception {
    ExecutorService calls = Executors.newFixedThreadPool(5);
    try (TcpProxy silent = TcpProxy.to(broker);
        AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build()) {
      silent.blackHole(Direction.BOTH);
      List<Address> nodes = Collections.nCopies(20, new Address(silent.host(), silent.port()));
      try (AmqpLockProvider provider =
          new AmqpLockProvider(
              locks, broker.connectionFactory(), nodes, AmqpLockProvider.DEFAULT_QUEUE_PREFIX)) {
        long begin = System.nanoTime();
        List<Future<Optional<SimpleLock>>> all =
            IntStream.range(0, 5)
                .mapToObj(
                    i ->
                        calls.submit(
                            () ->
                                provider.lock(
                                    new LockConfiguration(
                                        Instant.now(), "silent-" + i, AT_LEAST, AT_LEAST))))
                .toList();
        await().until(() -> silent.connections() > 0);
        for (Future<Optional<SimpleLock>> each : all) {
          assertThatThrownBy(() -> each.get(60, TimeUnit.SECONDS))
              .hasCauseInstanceOf(LockException.Unreachable.class);
        }
        // All nodes take 50 s, one after the other.
        assertThat(sinceThen(begin)).isLessThan(Duration.ofSeconds(25));
        // One attempt makes one each 2.5 s, so 11 in that time. Five had 20 at least within 10 s.
        assertThat(silent.connections()).isLessThanOrEqualTo(11);
      }
    } finally {
      calls.shutdown();
    }
  }
}
