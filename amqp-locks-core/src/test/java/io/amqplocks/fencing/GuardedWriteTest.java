package io.amqplocks.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.FencedHolderMain;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.GuardedTable;
import io.amqplocks.support.GuardedWriters;
import io.amqplocks.support.GuardedWritersMain;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.core.ConditionTimeoutException;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real database refuses every write of a holder that was overtaken while it was stopped. */
@BrokerTest(everyLine = true)
class GuardedWriteTest {

  private static final Duration SOON = Duration.ofSeconds(90);

  /** Each guards a row of its own. */
  private static final List<String> LOCKS =
      List.of("mutex:l", "mutex:order:7", "semaphore:l", "fenced:l", "tokens:l", "write:l");

  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Server server;
  private String url;
  private Connection database;

  @BeforeEach
  void start(Broker broker) throws Exception {
    this.broker = broker;
    server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
    url = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/mem:" + fixture.prefix();
    database = DriverManager.getConnection(url, "sa", "");
    GuardedTable.create(database, LOCKS.size());
  }

  @AfterEach
  void close() throws Exception {
    database.close();
    server.stop();
  }

  /** The number of hand-overs is the last part of a token: it must not outweigh a later draw. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void refusesEveryWriteOfAHolderThatWasOvertakenInItsSleep(boolean handedOver) throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "l", 1);
    locks.admin().tokenSemaphore("l").create(1, TokenQueueType.QUORUM);
    for (String each : LOCKS) {
      // To make a fence takes long, and the holder has short calls.
      Fences.token(LockArgument.lock(locks, each));
    }
    try (ChildJvm stale =
        ChildJvm.of(FencedHolderMain.class)
            .args(
                broker.uri(),
                fixture.prefix(),
                String.join(",", LOCKS),
                url,
                handedOver ? FencedHolderMain.HANDED_OVER : "acquired")
            .start()) {
      List<Long> tokens = new ArrayList<>();
      for (String unused : LOCKS) {
        tokens.add(Long.parseLong(stale.awaitLine("TOKEN ", SOON).substring(6)));
        int handOvers = Integer.parseInt(stale.awaitLine("HAND-OVERS ", SOON).substring(11));
        assertThat(handOvers > 0).isEqualTo(handedOver);
      }
      requireTaken(100, stale, "early");
      stale.stop();
      List<Lease> mine = new ArrayList<>();
      for (int row = 1; row <= LOCKS.size(); row++) {
        Lease lease = LockArgument.lock(locks, LOCKS.get(row - 1)).fenced().acquire(SOON);
        mine.add(lease);
        long token = lease.fencingToken().number();
        assertThat(token).as("%s", lease).isGreaterThan(tokens.get(row - 1));
        assertThat(GuardedTable.write(database, row, "mine", token)).isTrue();
      }
      stale.cont();
      requireTaken(0, stale, "stale");
      for (int row = 1; row <= LOCKS.size(); row++) {
        long token = mine.get(row - 1).fencingToken().number();
        assertThat(GuardedTable.body(database, row)).isEqualTo("mine");
        assertThat(GuardedTable.write(database, row, "mine again", token)).isTrue();
      }
    }
  }

  /**
   * The threads of two processes write in turns, and each process hands the slot over between its
   * threads. One process is stopped for longer than the broker waits for it.
   */
  @ParameterizedTest
  @ValueSource(strings = {"mutex:l", "fenced:l", "tokens:l"})
  void refusesNoWriteOfAHolderWhileSlotsAreHandedOver(String lock) throws Exception {
    AmqpLocks locks = fixture.open();
    locks.admin().tokenSemaphore("l").create(1, TokenQueueType.QUORUM);
    Fences.token(LockArgument.lock(locks, lock));
    try (ChildJvm child =
            ChildJvm.of(GuardedWritersMain.class)
                .args(broker.uri(), fixture.prefix(), lock, url, "1")
                .start();
        GuardedWriters mine = new GuardedWriters(LockArgument.lock(locks, lock), url, 1)) {
      awaitCounted(child, "accepted [1-9].*handed over [1-9].*");
      await().atMost(SOON).until(() -> mine.handedOver() > 0);
      stopWhileItHolds(child, mine);
      int before = mine.accepted();
      // The broker takes the child for gone.
      await().atMost(SOON).until(() -> mine.accepted() > before + 100);
      child.cont();
      int accepted = accepted(awaitCounted(child, ".*"));
      await().atMost(SOON).until(() -> accepted(awaitCounted(child, ".*")) > accepted);
      String counted = awaitCounted(child, ".*");
      System.out.printf("%s: here %s; there %s%n", lock, mine, counted);
      assertThat(counted).contains("wrong 0,").endsWith("died of null");
      assertThat(mine.wrong()).isZero();
      assertThat(mine.handedOver()).isPositive();
    }
  }

  /** Stops the child at a moment when it holds the lock: nobody here gets it for a while. */
  private static void stopWhileItHolds(ChildJvm child, GuardedWriters mine) {
    for (int i = 0; i < 100; i++) {
      child.stop();
      int before = mine.accepted();
      try {
        await()
            .atMost(Duration.ofSeconds(1))
            .pollInterval(Duration.ofMillis(20))
            .until(() -> mine.accepted() > before + 1);
      } catch (ConditionTimeoutException stopped) {
        return;
      }
      child.cont();
      String unused = awaitCounted(child, ".*");
    }
    throw new AssertionError("the child never held the lock when it was stopped");
  }

  private static String awaitCounted(ChildJvm child, String wanted) {
    String[] counted = new String[1];
    await()
        .atMost(SOON)
        .until(
            () -> {
              child.send("count");
              counted[0] = child.awaitLine("COUNTED ", SOON).substring(8);
              return counted[0].matches(wanted);
            });
    return counted[0];
  }

  private static int accepted(String counted) {
    return Integer.parseInt(counted.replaceFirst("accepted (\\d+),.*", "$1"));
  }

  /** Of a hundred writes to each row. */
  private static void requireTaken(int number, ChildJvm holder, String body) {
    holder.send(body);
    for (String lock : LOCKS) {
      assertThat(holder.awaitLine("TAKEN", SOON)).as(lock).isEqualTo("TAKEN " + number);
    }
  }
}
