package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.FencedHolderMain;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.GuardedTable;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real database refuses every write of a holder that was overtaken while it was stopped. */
@BrokerTest(everyLine = true)
class GuardedWriteTest {

  private static final Duration SOON = Duration.ofSeconds(90);

  private Broker broker;
  private Fixture fixture;
  private Server server;
  private String url;
  private Connection database;

  @BeforeEach
  void start(Broker broker) throws Exception {
    this.broker = broker;
    fixture = new Fixture(broker);
    server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
    url = "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/mem:" + fixture.prefix();
    database = DriverManager.getConnection(url, "sa", "");
    GuardedTable.create(database, 1);
  }

  @AfterEach
  void close() throws Exception {
    fixture.close();
    Fences.clear(broker, fixture.prefix());
    database.close();
    server.stop();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mutex", "semaphore"})
  void refusesEveryWriteOfAHolderThatWasOvertakenInItsSleep(String kind) throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "l", 1);
    AmqpLock lock = kind.equals("mutex") ? locks.mutex("l") : locks.semaphore("l");
    // To make a fence takes long, and the holder has short calls.
    Fences.token(lock);
    try (ChildJvm stale =
        ChildJvm.of(FencedHolderMain.class)
            .args(broker.uri(), fixture.prefix(), kind, "l", url)
            .start()) {
      long itsToken = Long.parseLong(stale.awaitLine("TOKEN ", SOON).substring(6));
      stale.send("early");
      assertThat(stale.awaitLine("TAKEN", SOON)).isEqualTo("TAKEN 100");
      stale.stop();
      try (Lease mine = lock.fenced().acquire(SOON)) {
        long token = mine.fencingToken().number();
        assertThat(token).isGreaterThan(itsToken);
        assertThat(GuardedTable.write(database, 1, "mine", token)).isTrue();
        stale.cont();
        stale.send("stale");
        assertThat(stale.awaitLine("TAKEN", SOON)).isEqualTo("TAKEN 0");
        assertThat(GuardedTable.body(database, 1)).isEqualTo("mine");
        assertThat(GuardedTable.write(database, 1, "mine again", token)).isTrue();
      }
    }
  }
}
