package io.amqplocks.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.HolderMain;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The read-write lock where processes die, the broker restarts, or strangers interfere. */
@BrokerTest(everyLine = true, ownBroker = true)
class ReadWriteFaultTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  /**
   * A broker frees what a killed process held at once, and the writer looks after 1.5 s, later on a
   * busy machine. By heartbeats it would take 20 s.
   */
  private static final Duration SOON = Duration.ofSeconds(12);

  /** For how long a stranger deletes the queue. */
  private static final Duration DELETING = Duration.ofSeconds(20);

  /** Longer than a holder may take to hear of a deletion. */
  private static final Duration AT_LEAST = Fixture.AT_ONCE.plusSeconds(1);

  @RegisterExtension private final Fixture fixture = new Fixture();

  private String queue() {
    return fixture.names().readWrite(LockName.of("m"));
  }

  private String gate() {
    return fixture.names().readWriteGate(LockName.of("m"));
  }

  private ChildJvm holder(String locks) throws Exception {
    ChildJvm holder =
        ChildJvm.of(HolderMain.class)
            .args(fixture.broker().uri(), fixture.prefix(), locks, "10")
            .start();
    var unused = holder.awaitLine("HELD", Duration.ofSeconds(90));
    return holder;
  }

  @Test
  void aWriterFollowsKilledReadersAndReadersAKilledWriter() throws Exception {
    AmqpReadWriteLock lock = fixture.open().readWriteLock("m");
    try (ChildJvm one = holder("read:m,read:m");
        ChildJvm two = holder("read:m")) {
      CompletableFuture<Lease> writer = lock.writeLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 1);
      one.killNow();
      fixture.awaitConsumers(queue(), 1);
      await().during(Duration.ofMillis(300)).until(() -> !writer.isDone());
      two.killNow();
      writer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
    }
    try (ChildJvm dying = holder("write:m")) {
      List<CompletableFuture<Lease>> readers =
          List.of(lock.readLock().acquireAsync(LONG), lock.readLock().acquireAsync(LONG));
      fixture.awaitConsumers(gate(), 2);
      dying.killNow();
      for (CompletableFuture<Lease> each : readers) {
        each.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
      }
    }
  }

  /** The writer at the front dies while it waits, and the reader behind it is called. */
  @Test
  void aKilledWaiterStopsNobody() throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpReadWriteLock lock = locks.readWriteLock("m");
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    ChildJvm waiting =
        ChildJvm.of(HolderMain.class)
            .args(fixture.broker().uri(), fixture.prefix(), "write:m", "10")
            .start();
    try (waiting) {
      fixture.awaitConsumers(gate(), 1, Duration.ofSeconds(90));
      CompletableFuture<Lease> behind = lock.readLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 2);
      waiting.killNow();
      behind.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
      assertThat(reader.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  /** Only the connections break that hold nothing, and cannot be opened again for a while. */
  @Test
  void aWriterKeepsItsPlaceWhenItsOtherConnectionsBreak(Broker broker) throws Exception {
    AmqpReadWriteLock lock = fixture.open().readWriteLock("m");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks =
          fixture.open(fixture.builder(factory).connectionName(fixture.prefix() + "it"));
      acquired(locks.readWriteLock("m").writeLock()).close();
      Lease reader = acquired(lock.readLock());
      proxy.refuse(true);
      fixture.closeConnectionsThatHoldNothing(fixture.prefix() + "it");
      CompletableFuture<Lease> first = locks.readWriteLock("m").writeLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 1);
      CompletableFuture<Lease> second = lock.writeLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 2);
      await().during(Duration.ofSeconds(2)).until(() -> !first.isDone());
      proxy.refuse(false);
      reader.close();
      try (Lease written = first.get(SOON.toMillis(), TimeUnit.MILLISECONDS)) {
        assertThat(written.verify()).isEqualTo(LeaseState.HELD);
        assertThat(second).isNotDone();
      }
      second.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
    }
  }

  /** The lock's queue is gone, and cannot be declared by the connections that break. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoseTurnItIsKeepsItWhileTheQueueCannotBeDeclared(boolean writes, Broker broker)
      throws Exception {
    AmqpReadWriteLock lock = fixture.open().readWriteLock("m");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks =
          fixture.open(fixture.builder(factory).connectionName(fixture.prefix() + "it"));
      AmqpReadWriteLock theirs = locks.readWriteLock("m");
      acquired(theirs.writeLock()).close();
      acquired(theirs.readLock()).close();
      Lease writer = acquired(lock.writeLock());
      CompletableFuture<Lease> first =
          (writes ? theirs.writeLock() : theirs.readLock()).acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 2);
      CompletableFuture<Lease> second = lock.writeLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 3);
      proxy.refuse(true);
      fixture.closeConnectionsThatHoldNothing(fixture.prefix() + "it");
      try (Connection stranger = fixture.stranger()) {
        stranger.createChannel().queueDelete(queue());
      }
      writer.close(); // lost, with its turn
      await().during(Duration.ofSeconds(2)).until(() -> !first.isDone() && !second.isDone());
      proxy.refuse(false);
      try (Lease lease = first.get(SOON.toMillis(), TimeUnit.MILLISECONDS)) {
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        assertThat(second).isNotDone();
      }
      second.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
    }
  }

  @Tag("trap-22")
  @Test
  void holdersHearThatTheQueuesProcessWasRestarted(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    Lease writer = acquired(locks.readWriteLock("w").writeLock());
    AmqpLock reading = locks.readWriteLock("r").readLock();
    Lease one = acquired(reading);
    Lease two = acquired(reading);
    String written = fixture.names().readWrite(LockName.of("w"));
    String read = fixture.names().readWrite(LockName.of("r"));
    broker.faults().crashQueue(written);
    broker.faults().crashQueue(read);
    await()
        .atMost(Fixture.AT_ONCE)
        .until(() -> List.of(writer, one, two).stream().allMatch(ReadWriteFaultTest::isLost));
    assertThat(writer.lossReason().orElseThrow().detail()).contains(written);
    assertThat(two.lossReason().orElseThrow().detail()).contains(read);
    acquired(locks.readWriteLock("w").readLock()).close();
    acquired(locks.readWriteLock("r").writeLock()).close();
  }

  private static boolean isLost(Lease lease) {
    return lease.state() == LeaseState.LOST;
  }

  /** A queue that is just being restarted may be said to be down. */
  private static Lease acquired(AmqpLock lock) {
    return await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(lock::tryAcquire, Optional::isPresent)
        .orElseThrow();
  }

  /**
   * A stranger deletes the queue again and again, while others declare it. A channel that has
   * consumed one of that name before might not hear of the end of the next.
   */
  @Tag("trap-23")
  @Tag("rare")
  @Test
  void noHolderMissesTheEndOfItsQueue() throws Exception {
    List<AmqpReadWriteLock> clients = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      clients.add(fixture.open(fixture.seldomVerifying()).readWriteLock("m"));
    }
    ConcurrentSkipListMap<Long, Long> deletions = new ConcurrentSkipListMap<>();
    AtomicInteger lost = new AtomicInteger();
    long begin = System.nanoTime();
    // A busy machine gets more time.
    BooleanSupplier goesOn =
        () -> {
          long past = System.nanoTime() - begin;
          return past < (lost.get() > 50 ? DELETING : DELETING.multipliedBy(5)).toNanos();
        };
    List<Callable<Duration>> work = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      AmqpReadWriteLock lock = clients.get(i % 4);
      work.add(() -> hold(lock, goesOn, deletions, lost));
    }
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Connection stranger = fixture.stranger()) {
      List<Future<Duration>> holders = work.stream().map(threads::submit).toList();
      Channel channel = stranger.createChannel();
      while (goesOn.getAsBoolean()) {
        pause(ThreadLocalRandom.current().nextInt(5, 120));
        long begun = System.nanoTime();
        channel.queueDelete(queue());
        deletions.put(begun, System.nanoTime());
      }
      for (Future<Duration> each : holders) {
        assertThat(each.get(60, TimeUnit.SECONDS)).as("HELD after").isLessThan(Fixture.AT_ONCE);
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(lost.get()).as("leases lost").isGreaterThan(50);
  }

  /** Holds again and again. Returns for how long a lease was HELD at most after its deletion. */
  private static Duration hold(
      AmqpReadWriteLock lock,
      BooleanSupplier goesOn,
      ConcurrentSkipListMap<Long, Long> deletions,
      AtomicInteger lost) {
    long longest = 0;
    ThreadLocalRandom random = ThreadLocalRandom.current();
    while (goesOn.getAsBoolean()) {
      AmqpLock side = random.nextInt(8) == 0 ? lock.writeLock() : lock.readLock();
      try (Lease lease = side.tryAcquire().orElse(null)) {
        long since = System.nanoTime();
        long span = random.nextInt(6) == 0 ? AT_LEAST.toNanos() : random.nextInt(60_000_000);
        while (lease != null && System.nanoTime() - since < span) {
          pause(2);
          if (lease.state() != LeaseState.HELD) {
            lost.incrementAndGet();
            break;
          }
          Map.Entry<Long, Long> deletion = deletions.higherEntry(since);
          if (deletion != null) {
            longest = Math.max(longest, System.nanoTime() - deletion.getValue());
          }
        }
      } catch (LockException inBetween) {
        // The queue is deleted at each step of an acquire, too.
      }
      pause(2);
    }
    return Duration.ofNanos(longest);
  }

  private static void pause(int millis) {
    LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
  }

  @Test
  void whoWaitsOverARestartIsServedAfterIt(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpReadWriteLock lock = locks.readWriteLock("m");
    Lease reader = lock.readLock().tryAcquire().orElseThrow();
    // The broker stops and starts meanwhile.
    Duration longer = LONG.multipliedBy(3);
    CompletableFuture<Lease> writer = lock.writeLock().acquireAsync(longer);
    fixture.awaitConsumers(gate(), 1);
    CompletableFuture<Lease> behind =
        fixture.open().readWriteLock("m").readLock().acquireAsync(longer);
    fixture.awaitConsumers(gate(), 2);
    broker.faults().restart();
    await().until(() -> isLost(reader));
    CompletableFuture<Void> written = writer.thenAccept(Lease::close);
    behind.get(longer.toSeconds(), TimeUnit.SECONDS).close();
    written.get(longer.toSeconds(), TimeUnit.SECONDS);
  }

  /** The broker takes no notification then. That is enough for the waiters of the same process. */
  @Tag("trap-4")
  @Test
  void duringAnAlarmAReaderStillNotifiesTheWriterOfItsProcess(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open();
    // Of each lock only one release, since a writer looks more often that was not notified.
    List<String> names = IntStream.range(0, 13).mapToObj(i -> "m" + i).toList();
    for (String name : names) {
      locks.readWriteLock(name).writeLock().tryAcquire().orElseThrow().close();
      acquired(locks.readWriteLock(name).readLock()).close();
    }
    List<Duration> waited = new ArrayList<>();
    broker.faults().memoryAlarm(true);
    try {
      for (String name : names) {
        AmqpReadWriteLock lock = locks.readWriteLock(name);
        Lease reader = acquired(lock.readLock());
        CompletableFuture<Long> written =
            lock.writeLock()
                .acquireAsync(LONG)
                .thenApply(
                    lease -> {
                      lease.close();
                      return System.nanoTime();
                    });
        await().during(Duration.ofMillis(150)).until(() -> !written.isDone());
        long released = System.nanoTime();
        reader.close();
        waited.add(
            Duration.ofNanos(written.get(SOON.toMillis(), TimeUnit.MILLISECONDS) - released));
      }
    } finally {
      broker.faults().memoryAlarm(false);
    }
    // What is published before the broker has stopped the connection still arrives.
    List<Duration> stopped = waited.stream().skip(3).sorted().toList();
    // By looking alone they would take a quarter of a second, or not much less.
    assertThat(stopped.get(2)).as("third of %s", stopped).isLessThan(Duration.ofMillis(200));
  }

  /** Looking for a free lock publishes nothing, and the gate has its message already. */
  @Tag("trap-4")
  @Test
  void anAlarmDoesNotMatterToALockInUse(Broker broker) throws Exception {
    AmqpReadWriteLock lock = fixture.open().readWriteLock("m");
    lock.writeLock().tryAcquire().orElseThrow().close();
    broker.faults().memoryAlarm(true);
    try {
      for (int i = 0; i < 3; i++) {
        lock.readLock().tryAcquire().orElseThrow().close();
        lock.writeLock().tryAcquire().orElseThrow().close();
        CompletableFuture<Lease> writer;
        try (Lease reader = lock.readLock().tryAcquire().orElseThrow()) {
          writer = lock.writeLock().acquireAsync(LONG);
          fixture.awaitConsumers(gate(), 1);
          assertThat(reader.verify()).isEqualTo(LeaseState.HELD);
        }
        writer.get(SOON.toMillis(), TimeUnit.MILLISECONDS).close();
      }
      fixture.delete(gate());
      // The first look finds that it has gone. A new one would need a message.
      for (int i = 0; i < 3; i++) {
        lock.readLock().tryAcquire().orElseThrow().close();
      }
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }
}
