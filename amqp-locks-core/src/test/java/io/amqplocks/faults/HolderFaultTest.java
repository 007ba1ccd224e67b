package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.CounterMain;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.HolderMain;
import io.amqplocks.support.LockArgument;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Holders in processes of their own, and what becomes of their slots when they die or freeze. */
@BrokerTest(everyLine = true)
@Order(1) // of the longest
class HolderFaultTest {

  private static final Duration START = Duration.ofSeconds(90);

  /** A moment, on a busy machine too: heartbeats would tell after 20 seconds. */
  private static final Duration WITHIN = Duration.ofSeconds(16);

  /** So long those who are not told at most wait before they look again. */
  private static final Duration LOOKS_AFTER = Duration.ofMillis(1500);

  private static final int KILLS = 3;

  private static final List<String> LOCKS =
      List.of(
          "mutex:l",
          "persistent:l",
          "semaphore:l",
          "tokens:classic",
          "tokens:quorum",
          "write:l",
          "read:r");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  /** A process that holds all of these. */
  private ChildJvm holder(int heartbeat, List<String> which) throws Exception {
    ChildJvm holder =
        ChildJvm.of(HolderMain.class)
            .args(
                fixture.broker().uri(),
                fixture.prefix(),
                String.join(",", which),
                Integer.toString(heartbeat))
            .start();
    holder.awaitLine("HELD " + which.size(), START);
    return holder;
  }

  /**
   * The same locks in this process, which knows them well and waits for no connection any more.
   * What keeps a reader out is a writer.
   */
  private List<AmqpLock> locks() {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "l", 1);
    fixture.enable(locks, "l");
    locks.admin().tokenSemaphore("classic").create(1, TokenQueueType.CLASSIC);
    locks.admin().tokenSemaphore("quorum").create(1, TokenQueueType.QUORUM);
    List<AmqpLock> all =
        LOCKS.stream()
            .map(each -> LockArgument.lock(locks, each.replace("read:", "write:")))
            .toList();
    all.forEach(lock -> lock.tryAcquire().orElseThrow().close());
    return all;
  }

  /**
   * Takes all of them as they come free: each is asked for again and again, one after the other.
   */
  private List<Lease> awaitFree(List<AmqpLock> locks, long since, Duration bound) {
    List<Lease> leases = new ArrayList<>();
    Map<AmqpLock, Duration> free = new LinkedHashMap<>();
    for (AmqpLock lock : locks) {
      leases.add(
          await()
              .pollInterval(Duration.ofMillis(10))
              .until(lock::tryAcquire, Optional::isPresent)
              .orElseThrow());
      free.put(lock, Duration.ofNanos(System.nanoTime() - since));
    }
    System.out.println("Free on RabbitMQ " + fixture.broker().version() + " after " + free);
    assertThat(free.values()).as("%s", free).allMatch(each -> each.compareTo(bound) < 0);
    return leases;
  }

  @Test
  void theSlotsOfAKilledHolderAreFreeAMomentLater() throws Exception {
    List<AmqpLock> locks = locks();
    for (int kill = 0; kill < KILLS; kill++) {
      // By its heartbeats it would take 20 seconds at least.
      try (ChildJvm holder = holder(10, LOCKS)) {
        assertThat(locks).allMatch(lock -> lock.tryAcquire().isEmpty());
        long dead = System.nanoTime();
        holder.killNow();
        awaitFree(locks, dead, WITHIN).forEach(Lease::close);
      }
    }
  }

  /** Who waits for a token is sent it; the others look for themselves, after 1.5 s at most. */
  @Test
  void whoWaitsForAKilledHolderIsServedAMomentLater() throws Exception {
    List<AmqpLock> locks = locks();
    Map<AmqpLock, Future<Long>> served = new LinkedHashMap<>();
    try (ChildJvm holder = holder(10, LOCKS)) {
      for (AmqpLock lock : locks) {
        served.put(
            lock,
            threads.submit(
                () -> {
                  try (Lease lease = lock.acquire(Duration.ofMinutes(1))) {
                    return System.nanoTime();
                  }
                }));
      }
      // So that they have tried in vain, and wait.
      await()
          .during(Duration.ofMillis(500))
          .until(() -> served.values().stream().noneMatch(Future::isDone));
      long dead = System.nanoTime();
      holder.killNow();
      for (Map.Entry<AmqpLock, Future<Long>> each : served.entrySet()) {
        assertThat(Duration.ofNanos(each.getValue().get(90, TimeUnit.SECONDS) - dead))
            .as("%s", each.getKey())
            .isLessThan(WITHIN.plus(LOOKS_AFTER));
      }
    }
  }

  @Tag("trap-5")
  @Test
  void aHolderThatSleptForThreeHeartbeatsKnowsThatItLost() throws Exception {
    List<AmqpLock> locks = locks();
    Duration heartbeat = Duration.ofSeconds(1);
    try (ChildJvm holder = holder(1, LOCKS)) {
      long stopped = System.nanoTime();
      holder.stop();
      // The broker closes its connections after two to three heartbeats, and then the rest is as
      // after a
      // kill. Nothing else would: its sockets are open.
      List<Lease> mine = awaitFree(locks, stopped, heartbeat.multipliedBy(3).plus(WITHIN));
      await().until(() -> System.nanoTime() - stopped > Duration.ofMillis(3100).toNanos());
      holder.cont();
      holder.send("state");
      for (Lease lease : mine) {
        assertThat(holder.awaitLine("STATE", START)).as("%s", lease).startsWith("STATE LOST");
        Tokens.verified(lease);
      }
    }
  }

  @Test
  void twoProcessesAddTenThousandTimesWithoutALostUpdate(@TempDir Path folder) throws Exception {
    // All of them on the line that counts most; the mutex's queue is no different on the older one.
    int additions = fixture.broker().version().isAtLeast(4, 0) ? 2500 : 500;
    Path file = Files.writeString(folder.resolve("number"), "0");
    List<ChildJvm> processes = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        processes.add(
            ChildJvm.of(CounterMain.class)
                .args(
                    fixture.broker().uri(),
                    fixture.prefix(),
                    "counter",
                    file.toString(),
                    "2",
                    "" + additions)
                .start());
      }
      for (ChildJvm process : processes) {
        process.awaitLine("DONE, leases lost: 0", Duration.ofMinutes(4));
      }
    } finally {
      processes.forEach(ChildJvm::close);
    }
    assertThat(Files.readString(file)).isEqualTo(Integer.toString(4 * additions));
  }

  @Test
  void aHolderOfAnotherProcessReleases() throws Exception {
    AmqpLock mutex = fixture.open().mutex("l");
    try (ChildJvm holder = holder(10, List.of("mutex:l"))) {
      holder.send("verify");
      assertThat(holder.awaitLine("VERIFIED", START)).contains("HELD");
      holder.send("release");
      holder.awaitLine("RELEASED", START);
      // The broker has the release a moment later.
      Fixture.first(mutex).close();
    }
  }
}
