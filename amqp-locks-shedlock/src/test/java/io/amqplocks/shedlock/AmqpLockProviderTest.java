package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor.TaskResult;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.ImpatientKeepAlive;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What a provider of ShedLock must do. Most of its tests wait, so they run at the same time. */
@BrokerTest(everyLine = true)
@Execution(ExecutionMode.CONCURRENT)
class AmqpLockProviderTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A JVM on a busy machine takes its time to start. */
  private static final Duration START = Duration.ofMinutes(2);

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofSeconds(4);

  /** For a lock that is got or extended before that is over, though the machine stalls. */
  private static final Duration TO_EXTEND = Duration.ofSeconds(10);

  private static final Duration NO_TIME = Duration.ZERO;

  private final String name = "job-" + UUID.randomUUID();
  private Broker broker;
  private AmqpLocks here;
  private AmqpLocks there;
  private AmqpLockProvider provider;
  private AmqpLockProvider other;

  @BeforeEach
  void open(Broker given) {
    broker = given;
    here = AmqpLocks.builder(given.connectionFactory()).build();
    there = AmqpLocks.builder(given.connectionFactory()).build();
    provider = new AmqpLockProvider(here, given.connectionFactory());
    other = new AmqpLockProvider(there, given.connectionFactory());
    here.connect();
    there.connect();
  }

  @AfterEach
  void close() throws Exception {
    provider.close();
    other.close();
    here.close();
    there.close();
    try (Connection stranger = broker.connectionFactory().newConnection()) {
      stranger.createChannel().queueDelete("amqp-locks.shedlock." + name);
    }
  }

  private Optional<SimpleLock> lock(LockProvider by, Duration atMost, Duration atLeast) {
    return by.lock(new LockConfiguration(Instant.now(), name, atMost, atLeast));
  }

  private SimpleLock locked(LockProvider by, Duration atMost, Duration atLeast) {
    return lock(by, atMost, atLeast).orElseThrow();
  }

  /** The broker may not have read yet what others gave back, or that they no longer try. */
  private SimpleLock awaitLock(LockProvider by) {
    return await()
        .atMost(PATIENCE)
        .until(() -> lock(by, LONG, NO_TIME), Optional::isPresent)
        .orElseThrow();
  }

  private void awaitLocked(LockProvider by) {
    awaitLock(by).unlock();
  }

  /** Whoever dies in between must leave a marker. */
  @Test
  void aMinimumIsKeptWhileItIsMadeShorter() throws Exception {
    SimpleLock lock = locked(provider, LONG, LONG);
    AtomicBoolean ends = new AtomicBoolean();
    AtomicInteger looks = new AtomicInteger();
    ExecutorService watching = Executors.newSingleThreadExecutor();
    try (Connection stranger = broker.connectionFactory().newConnection()) {
      Channel channel = stranger.createChannel();
      Future<Long> fewest =
          watching.submit(
              () -> {
                long least = Long.MAX_VALUE;
                while (!ends.get()) {
                  least = Math.min(least, channel.messageCount("amqp-locks.shedlock." + name));
                  looks.incrementAndGet();
                }
                return least;
              });
      // The watching thread may get no turn for a while.
      long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
      for (int i = 0; i < 50 || (looks.get() <= 100 && end - System.nanoTime() > 0); i++) {
        lock = lock.extend(LONG, LONG.minusSeconds(60)).orElseThrow();
        assertThat(markers()).isEqualTo(1);
        lock = lock.extend(LONG, LONG).orElseThrow();
      }
      ends.set(true);
      assertThat(fewest.get(30, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(looks).as("looks").hasValueGreaterThan(100);
    } finally {
      ends.set(true);
      watching.shutdown();
    }
    lock.unlock();
  }

  /** How many messages keep the lock. */
  private long markers() {
    try (Connection stranger = broker.connectionFactory().newConnection()) {
      return stranger.createChannel().messageCount("amqp-locks.shedlock." + name);
    } catch (IOException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private void assertBusy() {
    assertThat(lock(provider, LONG, NO_TIME)).isEmpty();
    assertThat(lock(other, LONG, NO_TIME)).isEmpty();
  }

  /** Nobody gets it before that time is over, as it may be by now on a machine that stalled. */
  private void assertBusyFor(Duration time, long begin) {
    for (LockProvider by : List.of(provider, other)) {
      lock(by, LONG, NO_TIME)
          .ifPresent(
              got -> {
                assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(time.toNanos());
                got.unlock();
              });
    }
  }

  private static void awaitTheEndOf(Duration time, long begin) {
    await().atMost(PATIENCE).until(() -> System.nanoTime() - begin > time.toNanos() + 500_000_000);
  }

  /** Its lock is as one of just before. Else its marker would keep it, though nobody had it. */
  @Test
  void aCloseBetweenTheMarkerAndTheTimerTakesNoLockAway() {
    AtomicReference<AmqpLockProvider> closed = new AtomicReference<>();
    // The first call after the confirm of the marker.
    ConnectionFactory closing =
        new HarmingFactory(
            broker.connectionFactory(),
            "asyncCompletableRpc",
            channel -> Optional.ofNullable(closed.get()).ifPresent(AmqpLockProvider::close));
    try (AmqpLockProvider hasty = new AmqpLockProvider(here, closing)) {
      closed.set(hasty);
      SimpleLock lock = locked(hasty, LONG, LONG);
      assertThat(markers()).isOne();
      assertThat(here.leases()).hasSize(1);
      lock.unlock();
      assertThat(here.leases()).isEmpty();
      assertThatThrownBy(() -> lock(hasty, LONG, NO_TIME)).isInstanceOf(LockException.Closed.class);
    }
  }

  /** Or its marker would keep the lock from all, and nobody would have run the job. */
  @Test
  void anInterruptedThreadGetsTheLockThatItMarked() {
    // So that it does not have to connect.
    locked(provider, LONG, NO_TIME).unlock();
    Thread.currentThread().interrupt();
    Optional<SimpleLock> lock;
    boolean kept;
    try {
      lock = lock(provider, LONG, LONG);
    } finally {
      kept = Thread.interrupted();
    }
    assertThat(kept).as("the flag").isTrue();
    assertThat(lock).isPresent();
    assertThat(markers()).isOne();
    lock.get().unlock();
  }

  /** As a credentials provider may. What keeps a lock alive would drop a task that throws. */
  @Test
  void whatThrowsInTheClientLibraryIsAnOutage() throws Exception {
    List<Connection> opened = new CopyOnWriteArrayList<>();
    ConnectionFactory failing =
        new ConnectionFactory() {
          @Override
          public ConnectionFactory clone() {
            return this;
          }

          @Override
          public Connection newConnection(String clientName) throws IOException, TimeoutException {
            if (!opened.isEmpty()) {
              throw new IllegalStateException("no credentials in this test");
            }
            opened.add(broker.connectionFactory().newConnection(clientName));
            return opened.get(0);
          }
        };
    try (Warnings warnings = Warnings.of(name);
        AmqpLockProvider hasty = new AmqpLockProvider(here, failing)) {
      SimpleLock lock = locked(hasty, LONG, LONG);
      opened.get(0).close();
      SimpleLock extended = lock.extend(LONG, LONG).orElseThrow();
      assertThat(warnings.all()).singleElement().asString().contains("lockAtLeastFor of PT5M");
      extended.unlock();
      assertThatThrownBy(() -> lock(hasty, LONG, NO_TIME))
          .isInstanceOf(LockException.Unreachable.class)
          .hasMessageContaining("no credentials in this test")
          .hasRootCauseInstanceOf(IllegalStateException.class)
          .extracting(error -> ((LockException) error).lock().orElseThrow())
          .isEqualTo(LockId.mutex("shedlock:" + name));
    }
    assertThat(here.leases()).isEmpty();
  }

  @Test
  void aQueuePrefixIsCheckedAsThatOfTheLocksIs() {
    for (String prefix : List.of("x".repeat(60), "\u00e9".repeat(30), "amq.locks.")) {
      assertThatThrownBy(
              () -> new AmqpLockProvider(here, broker.connectionFactory(), List.of(), prefix))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining(prefix);
    }
    ConnectionFactory factory = broker.connectionFactory();
    assertThatThrownBy(() -> new AmqpLockProvider(here, factory, List.of(), unset()))
        .isInstanceOf(NullPointerException.class);
    String longest = "x".repeat(55);
    String job = "j".repeat(191);
    try (AmqpLockProvider long55 = new AmqpLockProvider(here, factory, List.of(), longest);
        Connection stranger = factory.newConnection()) {
      long55.lock(new LockConfiguration(Instant.now(), job, LONG, NO_TIME)).orElseThrow().unlock();
      stranger.createChannel().queueDelete(longest + "shedlock." + job);
    } catch (IOException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @SuppressWarnings("NullAway") // As code without checks may have it.
  private static String unset() {
    return null;
  }

  @Test
  void aClosedProviderLeavesNoLease() {
    provider.close();
    assertThatThrownBy(() -> lock(provider, LONG, NO_TIME))
        .isInstanceOf(LockException.Closed.class);
    assertThat(here.leases()).isEmpty();
    awaitLocked(other);
  }

  @Test
  void whoLostTheLockCannotExtendItAndLeavesTheMarkerOfTheNext() throws Exception {
    SimpleLock lost = locked(provider, LONG, Duration.ofMillis(1));
    try (Connection stranger = broker.connectionFactory().newConnection()) {
      stranger.createChannel().queueDelete("amqp-locks.mutex.shedlock:" + name);
      await()
          .atMost(PATIENCE)
          .until(() -> here.leases().stream().noneMatch(l -> l.state() == LeaseState.HELD));
      SimpleLock next =
          await()
              .atMost(PATIENCE)
              .until(() -> lock(other, LONG, LONG), Optional::isPresent)
              .orElseThrow();
      assertThat(lost.extend(LONG, NO_TIME)).isEmpty();
      next.unlock();
      // The next one's minimum still keeps it.
      assertThat(stranger.createChannel().messageCount("amqp-locks.shedlock." + name)).isOne();
      assertBusy();
    }
  }

  @Test
  void aLeaseThatWasLostBeforeItsTimeIsNotSaidToBeReleased() throws Exception {
    Lease lease = here.mutex(name).acquire(PATIENCE);
    ExpiringLease expiring = new ExpiringLease(lease, System.nanoTime(), Duration.ofNanos(1));
    lease.close();
    assertThat(expiring.expire()).isNegative();
    Lease held = here.mutex(name).acquire(PATIENCE);
    assertThat(new ExpiringLease(held, System.nanoTime() - 1, Duration.ofNanos(1)).expire())
        .isZero();
    assertThat(held.state()).isEqualTo(LeaseState.RELEASED);
  }

  @Test
  void isHeldUntilItIsUnlocked() {
    SimpleLock lock = locked(provider, LONG, NO_TIME);
    assertBusy();
    lock.unlock();
    // As soon as the broker has read that the other one tries no more.
    SimpleLock again = awaitLock(provider);
    assertBusy();
    again.unlock();
    awaitLocked(other);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lock.extend(LONG, NO_TIME)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void expiresAtLockAtMostForThoughItsHolderLives() {
    long begin = System.nanoTime();
    SimpleLock lock = locked(provider, TO_EXTEND, NO_TIME);
    assertBusyFor(TO_EXTEND, begin);
    awaitLocked(other);
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(TO_EXTEND.toNanos());
    SimpleLock theirs = locked(other, LONG, NO_TIME);
    assertThat(lock.extend(LONG, NO_TIME)).isEmpty();
    assertBusy();
    theirs.unlock();
  }

  @Test
  void unlockingWhatHasExpiredLeavesTheNextHolderAlone() {
    SimpleLock lock = locked(provider, TO_EXTEND, NO_TIME);
    SimpleLock theirs = awaitLock(other);
    lock.unlock();
    assertBusy();
    theirs.unlock();
  }

  @Test
  void isKeptForLockAtLeastForAfterItWasUnlocked() {
    long begin = System.nanoTime();
    locked(provider, LONG, SHORT).unlock();
    assertThat(here.leases()).isEmpty();
    assertBusyFor(SHORT, begin);
    awaitLocked(other);
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT.toNanos());
    awaitLocked(provider);
  }

  @Test
  void isHeldAfterLockAtLeastForUntilItIsUnlocked() {
    long begin = System.nanoTime();
    SimpleLock lock = locked(provider, LONG, SHORT);
    await().atMost(PATIENCE).until(() -> System.nanoTime() - begin > SHORT.toNanos() + 200_000_000);
    assertBusy();
    lock.unlock();
    awaitLocked(other);
  }

  @Test
  void isKeptForLockAtLeastForThoughItsProcessWasKilled() {
    Duration atLeast = Duration.ofSeconds(20);
    try (ChildJvm child = holder(atLeast)) {
      // When it began to lock: its line may be read late.
      long begin = Long.parseLong(child.awaitLine("held ", START).substring("held ".length()));
      assertBusy();
      child.killNow();
      // The mutex is free soon, and the job is not.
      await()
          .atMost(PATIENCE)
          .until(
              () -> there.mutex("shedlock:" + name).tryAcquire(),
              lease -> lease.map(each -> close(each)).orElse(false));
      assertThat(since(begin)).isLessThan(atLeast);
      assertBusy();
      awaitLocked(other);
      // This clock is the only one that both processes have, and it may be set meanwhile.
      assertThat(since(begin)).isGreaterThan(Duration.ofSeconds(12));
    }
  }

  private static Duration since(long millis) {
    return Duration.ofMillis(System.currentTimeMillis() - millis);
  }

  private static boolean close(AutoCloseable lease) {
    try {
      lease.close();
      return true;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void isFreeSoonAfterItsProcessWasKilledIfThereIsNoMinimum() {
    try (ChildJvm child = holder(NO_TIME)) {
      child.awaitLine("held", START);
      assertBusy();
      child.killNow();
      // It asked for an hour: nobody has to wait for that.
      awaitLocked(provider);
    }
  }

  private ChildJvm holder(Duration atLeast) {
    return ChildJvm.of(LockingMain.class).args(broker.uri(), name, atLeast.toString()).start();
  }

  @Test
  void isExtendedWhileItIsHeld() {
    SimpleLock lock = locked(provider, TO_EXTEND, NO_TIME);
    long begin = System.nanoTime();
    SimpleLock extended = lock.extend(LONG, NO_TIME).orElseThrow();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    awaitTheEndOf(TO_EXTEND, begin);
    assertBusy();
    extended.unlock();
    awaitLocked(other);
  }

  @Test
  void anExtensionMayMakeLockAtMostForShorter() {
    long begin = System.nanoTime();
    assertThat(locked(provider, LONG, NO_TIME).extend(SHORT, NO_TIME)).isPresent();
    assertBusyFor(SHORT, begin);
    awaitLocked(other);
  }

  @Test
  void anExtensionSetsLockAtLeastForAnew() {
    SimpleLock shortened = locked(provider, LONG, LONG).extend(LONG, NO_TIME).orElseThrow();
    shortened.unlock();
    awaitLocked(provider);

    SimpleLock lock = locked(provider, LONG, NO_TIME);
    long begin = System.nanoTime();
    SimpleLock prolonged = lock.extend(LONG, SHORT).orElseThrow();
    prolonged.unlock();
    assertBusyFor(SHORT, begin);
    awaitLocked(other);
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(SHORT.toNanos());
  }

  @Test
  void isNotExtendedAfterALoss() {
    SimpleLock lock = locked(provider, LONG, NO_TIME);
    here.revoke(LockId.mutex("shedlock:" + name), "a test");
    assertThat(lock.extend(LONG, NO_TIME)).isEmpty();
    awaitLocked(other);
  }

  @Test
  void aLossIsLoggedWhenTheJobEnds() {
    try (Warnings warnings = Warnings.of(name)) {
      SimpleLock unlocked = locked(provider, LONG, NO_TIME);
      here.revoke(LockId.mutex("shedlock:" + name), "a test");
      unlocked.unlock();
      assertThat(warnings.all())
          .singleElement()
          .asString()
          .contains("REVOKED", "a test", "Another node may have run the job");
    }
    // A revocation gives back on a thread of its own.
    try (Warnings warnings = Warnings.of(name)) {
      SimpleLock extended = awaitLock(provider);
      here.revoke(LockId.mutex("shedlock:" + name), "a test");
      assertThat(extended.extend(LONG, NO_TIME)).isEmpty();
      assertThat(warnings.all()).singleElement().asString().contains("REVOKED");
    }
    try (Warnings warnings = Warnings.of(name)) {
      SimpleLock outlived = awaitLock(provider);
      here.close();
      outlived.unlock();
      assertThat(warnings.all()).singleElement().asString().contains("AmqpLocks was closed");
    }
  }

  @Test
  void whatWasHeldToItsEndIsNotSaidToBeLost() {
    try (Warnings warnings = Warnings.of(name)) {
      locked(provider, LONG, NO_TIME).unlock();
      assertThat(warnings.all()).isEmpty();
      SimpleLock lock = locked(provider, TO_EXTEND, NO_TIME);
      awaitLocked(other);
      lock.unlock();
      // It is logged after the release.
      await().atMost(PATIENCE).until(() -> !warnings.all().isEmpty());
      assertThat(warnings.all()).singleElement().asString().contains("all of lockAtMostFor");
    }
  }

  /** ShedLock would not let anybody unlock it any more. */
  @Test
  void isExtendedInDoubtAndThenUnlocked() {
    LeasesInDoubt doubt = new LeasesInDoubt(here);
    try (AmqpLockProvider doubting =
        new AmqpLockProvider(doubt.locks(), broker.connectionFactory())) {
      SimpleLock lock = locked(doubting, TO_EXTEND, NO_TIME);
      long begin = System.nanoTime();
      doubt.begin();
      SimpleLock extended = lock.extend(LONG, NO_TIME).orElseThrow();
      awaitTheEndOf(TO_EXTEND, begin);
      assertBusy();
      extended.unlock();
      awaitLocked(other);
    }
  }

  @Test
  void itsMinimumIsNotChangedInDoubt() {
    LeasesInDoubt doubt = new LeasesInDoubt(here);
    try (Warnings warnings = Warnings.of(name);
        AmqpLockProvider doubting =
            new AmqpLockProvider(doubt.locks(), broker.connectionFactory())) {
      SimpleLock lock = locked(doubting, LONG, LONG);
      doubt.begin();
      SimpleLock extended = lock.extend(LONG, NO_TIME).orElseThrow();
      assertThat(markers()).isOne();
      assertThat(warnings.all()).singleElement().asString().contains("PT0S", "does not confirm");
      // It is not forgotten that the lock is kept for long.
      doubt.endWhenAsked();
      SimpleLock shortened = extended.extend(LONG, NO_TIME).orElseThrow();
      assertThat(markers()).isZero();
      shortened.unlock();
      awaitLocked(other);
    }
  }

  @Test
  void isExtendedWithoutItsMinimumIfTheMarkersCannotBeReached() {
    AtomicBoolean broken = new AtomicBoolean();
    ConnectionFactory breaking =
        new HarmingFactory(
            broker.connectionFactory(),
            "queueDeclare",
            channel -> {
              if (broken.get()) {
                throw new IOException("broken by the test");
              }
            });
    try (Warnings warnings = Warnings.of(name);
        AmqpLockProvider breakable = new AmqpLockProvider(here, breaking)) {
      SimpleLock lock = locked(breakable, TO_EXTEND, NO_TIME);
      long begin = System.nanoTime();
      broken.set(true);
      // Without a minimum nobody asks for markers.
      SimpleLock extended = lock.extend(TO_EXTEND, NO_TIME).orElseThrow();
      assertThat(warnings.all()).isEmpty();
      extended = extended.extend(LONG, LONG).orElseThrow();
      assertThat(warnings.all()).singleElement().asString().contains("lockAtLeastFor of PT5M");
      awaitTheEndOf(TO_EXTEND, begin);
      assertBusy();
      broken.set(false);
      extended = extended.extend(LONG, LONG.minusMillis(500)).orElseThrow();
      assertThat(markers()).isOne();
      extended.unlock();
      assertBusy();
    }
  }

  /** A timer is never on time. */
  @Test
  void aMinimumThatIsLittleShorterLeavesTheMarkers() {
    AtomicInteger removals = new AtomicInteger();
    ConnectionFactory counting =
        new HarmingFactory(
            broker.connectionFactory(), "basicGet", channel -> removals.incrementAndGet());
    try (AmqpLockProvider counted = new AmqpLockProvider(here, counting)) {
      SimpleLock lock = locked(counted, LONG, LONG);
      lock = lock.extend(LONG, LONG.minusMillis(900)).orElseThrow();
      assertThat(removals).hasValue(0);
      // The machine may have stalled for so long that the minimum was a longer one and has its own.
      int before = Math.toIntExact(markers());
      lock = lock.extend(LONG, LONG.minusSeconds(60)).orElseThrow();
      assertThat(removals).hasValue(before);
      assertThat(markers()).isOne();
      lock.unlock();
      assertBusy();
    }
  }

  @Test
  void whatCannotBeExtendedIsHeldNoMore() {
    AtomicBoolean late = new AtomicBoolean();
    ConnectionFactory waiting =
        new HarmingFactory(
            broker.connectionFactory(),
            channel -> {
              long begin = System.nanoTime();
              await()
                  .atMost(PATIENCE)
                  .until(() -> !late.get() || System.nanoTime() - begin > SHORT.toNanos());
            });
    try (AmqpLockProvider slow = new AmqpLockProvider(here, waiting)) {
      SimpleLock lock = locked(slow, LONG, NO_TIME);
      late.set(true);
      assertThat(lock.extend(SHORT, SHORT)).isEmpty();
      assertThat(here.leases()).isEmpty();
      // ShedLock refuses what nobody needs to do any more.
      assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    }
    awaitLocked(other);
  }

  @Test
  void isKeptAlive() {
    ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    try {
      LockProvider keepAlive = ImpatientKeepAlive.of(provider, timer);
      // It is extended when half of that is over. A busy machine may be late by the other half.
      Duration kept = Duration.ofSeconds(12);
      long begin = System.nanoTime();
      SimpleLock lock = locked(keepAlive, kept, Duration.ofSeconds(1));
      await()
          .atMost(PATIENCE.multipliedBy(2))
          .until(() -> System.nanoTime() - begin > 2 * kept.toNanos());
      assertBusy();
      lock.unlock();
      awaitLocked(other);
    } finally {
      timer.shutdownNow();
    }
  }

  @Test
  void aTaskIsExecutedByOneOfTwoApplications() throws Throwable {
    LockConfiguration wanted = new LockConfiguration(Instant.now(), name, LONG, NO_TIME);
    // In another thread: ShedLock lets a thread that holds a lock run its tasks again.
    ExecutorService thread = Executors.newSingleThreadExecutor();
    TaskResult<Boolean> result =
        new DefaultLockingTaskExecutor(provider)
            .executeWithLock(
                () -> thread.submit(() -> isExecuted(other, wanted)).get(30, TimeUnit.SECONDS),
                wanted);
    thread.shutdownNow();
    assertThat(result.wasExecuted()).isTrue();
    assertThat(result.getResult()).isFalse();
    await().atMost(PATIENCE).until(() -> isExecuted(other, wanted));
  }

  private static boolean isExecuted(LockProvider by, LockConfiguration wanted) {
    AtomicBoolean executed = new AtomicBoolean();
    new DefaultLockingTaskExecutor(by).executeWithLock((Runnable) () -> executed.set(true), wanted);
    return executed.get();
  }

  @Test
  void aTaskExtendsItsOwnLock() {
    LockConfiguration wanted = new LockConfiguration(Instant.now(), name, TO_EXTEND, NO_TIME);
    AtomicBoolean extended = new AtomicBoolean();
    new DefaultLockingTaskExecutor(provider)
        .executeWithLock(
            (Runnable)
                () -> {
                  long begin = System.nanoTime();
                  LockExtender.extendActiveLock(LONG, NO_TIME);
                  awaitTheEndOf(TO_EXTEND, begin);
                  assertBusy();
                  extended.set(true);
                },
            wanted);
    assertThat(extended).isTrue();
    awaitLocked(other);
  }

  /** Deleted between the look for markers and the publish. */
  @Test
  void aMarkerThatFindsNoQueueIsNoMarker() {
    ConnectionFactory deleting =
        new HarmingFactory(
            broker.connectionFactory(),
            channel -> channel.queueDelete("amqp-locks.shedlock." + name));
    try (AmqpLockProvider hasty = new AmqpLockProvider(here, deleting)) {
      assertThatThrownBy(() -> lock(hasty, LONG, LONG))
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining("amqp-locks.shedlock." + name)
          .extracting(error -> ((LockException) error).lock().orElseThrow())
          .isEqualTo(LockId.mutex("shedlock:" + name));
    }
    assertThat(here.leases()).isEmpty();
    awaitLocked(other);
  }

  /** Lost between the mutex and the return of the call. */
  @Test
  void aLockThatWasLostBeforeItsMarkerWasThereIsNotGiven() {
    ConnectionFactory revoking =
        new HarmingFactory(
            broker.connectionFactory(),
            channel -> assertThat(here.revoke(LockId.mutex("shedlock:" + name), "a test")).isOne());
    try (AmqpLockProvider slow = new AmqpLockProvider(here, revoking)) {
      assertThat(lock(slow, LONG, LONG)).isEmpty();
    }
    assertThat(here.leases()).isEmpty();
    // Its marker keeps the lock for its time all the same.
    assertBusy();
  }

  @Test
  void aLockWhoseTimeIsOverBeforeItsMarkerIsThereIsNotGivenAndKeepsNobodyOut() {
    ConnectionFactory waiting =
        new HarmingFactory(
            broker.connectionFactory(),
            channel -> {
              long begin = System.nanoTime();
              await().atMost(PATIENCE).until(() -> System.nanoTime() - begin > SHORT.toNanos());
            });
    try (AmqpLockProvider slow = new AmqpLockProvider(here, waiting)) {
      // Were its marker left, it would keep the lock for another SHORT.
      assertThat(lock(slow, SHORT, SHORT)).isEmpty();
      assertThat(here.leases()).isEmpty();
      assertThat(markers()).isZero();
    }
    assertThat(lock(provider, Duration.ZERO, NO_TIME)).isEmpty();
    assertThat(here.leases()).isEmpty();
    awaitLocked(other);
  }

  @Test
  void aLockInDoubtIsGivenIfTheBrokerConfirmsIt() {
    LeasesInDoubt doubt = new LeasesInDoubt(here);
    doubt.begin();
    doubt.endWhenAsked();
    try (AmqpLockProvider doubting =
        new AmqpLockProvider(doubt.locks(), broker.connectionFactory())) {
      SimpleLock lock = locked(doubting, LONG, NO_TIME);
      assertBusy();
      lock.unlock();
    }
    awaitLocked(other);
  }

  @Test
  void aLockInDoubtIsNotGivenAndItsMarkerStays() {
    LeasesInDoubt doubt = new LeasesInDoubt(here);
    doubt.begin();
    try (AmqpLockProvider doubting =
        new AmqpLockProvider(doubt.locks(), broker.connectionFactory())) {
      assertThat(lock(doubting, LONG, LONG)).isEmpty();
    }
    assertThat(here.leases()).isEmpty();
    // It may be of another holder.
    assertThat(markers()).isOne();
  }

  @Test
  void twentyThreadsAndAnotherProcessCountCorrectly(@TempDir Path folder) throws Exception {
    Path counter = Files.writeString(folder.resolve("counter"), "0");
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try (ChildJvm child =
        ChildJvm.of(LockingMain.class).args(broker.uri(), name, counter.toString()).start()) {
      child.awaitLine("counting", START);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        LockProvider by = i % 2 == 0 ? provider : other;
        all.add(
            threads.submit(
                () -> {
                  SharedCounter.add(by, name, counter, 5);
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get(120, TimeUnit.SECONDS);
      }
      child.awaitLine("done", Duration.ofMinutes(2));
    } finally {
      threads.shutdownNow();
    }
    assertThat(Files.readString(counter)).isEqualTo("125");
  }

  @Test
  void refusesWhatTheBrokerCannotKeep() {
    assertThatThrownBy(() -> locked(provider, Duration.ofDays(60), Duration.ofDays(50)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining(name);
    assertThatThrownBy(
            () ->
                provider.lock(new LockConfiguration(Instant.now(), "x".repeat(192), LONG, NO_TIME)))
        .isInstanceOf(LockException.Invalid.class);
    assertThat(here.leases()).isEmpty();
    SimpleLock held = locked(provider, LONG, NO_TIME);
    assertThatThrownBy(() -> held.extend(Duration.ofDays(60), Duration.ofDays(50)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining(name);
    assertBusy();
    held.unlock();
    provider.close();
    assertThatThrownBy(() -> locked(provider, LONG, NO_TIME))
        .isInstanceOf(LockException.Closed.class);
    assertThat(here.leases()).isEmpty();
  }
}
