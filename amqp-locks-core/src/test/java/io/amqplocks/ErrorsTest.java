package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Everything that a user can get wrong, and that nothing stays behind at the broker. */
@BrokerTest(everyLine = true)
class ErrorsTest {

  private static final String USER = "locks-errors";

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void nobodyListens() throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    // Whoever has the port keeps others from it, and does not listen.
    try (Socket taken = new Socket()) {
      taken.bind(new InetSocketAddress(0));
      factory.setPort(taken.getLocalPort());
      AmqpLocks locks = fixture.open(fixture.builder(factory));
      assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
          .isInstanceOf(LockException.Unreachable.class)
          .hasMessageContaining("mutex 'm'")
          .hasMessageContaining("localhost:" + factory.getPort())
          .hasMessageContaining("Connection refused");
      assertThatThrownBy(() -> locks.mutex("m").acquire(Duration.ofMinutes(1)))
          .as("the first contact fails at once")
          .isInstanceOf(LockException.Unreachable.class);
    }
  }

  @Test
  void anEndpointThatNeverAnswers(Broker broker) throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setPort(silent.getLocalPort());
      AmqpLocks locks = fixture.open(fixture.builder(factory).callTimeout(Duration.ofMillis(300)));
      long start = System.nanoTime();
      // On a busy machine the time may be over before the connection attempt has failed.
      assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
          .isInstanceOfAny(LockException.Unreachable.class, LockException.Unanswered.class)
          .hasMessageContaining("semaphore 's'");
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
    }
  }

  @Test
  void refusedCredentialsAndVirtualHost(Broker broker) {
    ConnectionFactory wrongPassword = broker.connectionFactory();
    wrongPassword.setPassword("wrong");
    assertThatThrownBy(() -> fixture.open(fixture.builder(wrongPassword)).mutex("m").tryAcquire())
        .isInstanceOf(LockException.Refused.class)
        .hasMessageContaining("mutex 'm'")
        .hasMessageContaining("password");
    ConnectionFactory wrongHost = broker.connectionFactory();
    wrongHost.setVirtualHost("nowhere");
    assertThatThrownBy(() -> fixture.open(fixture.builder(wrongHost)).mutex("m").tryAcquire())
        .isInstanceOf(LockException.Refused.class)
        .hasMessageContaining("nowhere");
  }

  @Test
  void missingPermissionsLeaveNothingBehind(Broker broker) throws Exception {
    fixture.create(fixture.open(), "s", 1);
    String ours = "^" + fixture.prefix().replace(".", "\\.");
    // configure, write, read: each missing once.
    refused(broker, "^$", ".*", ".*", "declare queue", true);
    refused(broker, ours, ".*", "^$", "consume from queue", true);
    refused(broker, ours, "^$", ours, "publish to queue", false);
    refused(broker, ours, "^$", ours, "publish to queue", true);
  }

  /** What README asks for, and no more. */
  @Test
  void thePermissionsThatTheDocumentationNamesSuffice(Broker broker) throws Exception {
    String ours = "^" + fixture.prefix().replace(".", "\\.");
    broker.faults().addUser(USER, "secret", ours, "^amq\\.default$", ours);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(USER);
    factory.setPassword("secret");
    try (AmqpLocks locks = fixture.builder(factory).build()) {
      locks.admin().slotSemaphore("s").create(2);
      try (Lease slot = locks.slotSemaphore("s").tryAcquire().orElseThrow();
          Lease mutex = locks.mutex("m").tryAcquire().orElseThrow()) {
        assertThat(slot.verify()).isEqualTo(LeaseState.HELD);
        assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
      }
      locks.admin().slotSemaphore("s").resize(1);
      locks.admin().tokenSemaphore("t").create(2, TokenQueueType.QUORUM);
      try (Lease token = locks.tokenSemaphore("t").tryAcquire().orElseThrow();
          Lease mutex = locks.fencedMutex("f").tryAcquire().orElseThrow()) {
        assertThat(token.verify()).isEqualTo(LeaseState.HELD);
        assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
      }
      assertThat(Tokens.resized(locks.admin().tokenSemaphore("t"), 1).tokens()).isEqualTo(1);
    } finally {
      broker.faults().deleteUser(USER);
    }
  }

  private void refused(
      Broker broker, String configure, String write, String read, String step, boolean mutex)
      throws Exception {
    broker.faults().addUser(USER, "secret", configure, write, read);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(USER);
    factory.setPassword("secret");
    try (AmqpLocks locks = fixture.builder(factory).build()) {
      // A mutex that was used before has its message.
      String name = mutex && write.equals("^$") ? "new" : "s";
      AmqpLock lock = mutex ? locks.mutex(name) : locks.slotSemaphore(name);
      assertThatThrownBy(lock::tryAcquire)
          .isInstanceOf(LockException.Refused.class)
          .hasMessageContaining(lock.id().toString())
          .hasMessageContaining(step);
      AmqpLocks onlooker = fixture.open();
      await().until(() -> !onlooker.admin().mutex(name).isHeld());
      assertThat(fixture.exists(fixture.names().holder(LockName.of("s"), 1))).isFalse();
      if (configure.equals("^$")) {
        assertThatThrownBy(() -> locks.admin().slotSemaphore("new").create(2))
            .isInstanceOf(LockException.Refused.class)
            .hasMessageContaining("semaphore 'new'");
        assertThat(fixture.exists(fixture.names().slot(LockName.of("new"), 2))).isFalse();
      }
    } finally {
      broker.faults().deleteUser(USER);
    }
  }

  @Test
  void aSemaphoreThatNobodyCreated() {
    assertThatThrownBy(() -> fixture.open().slotSemaphore("none").acquire(Duration.ofMinutes(1)))
        .isInstanceOf(LockException.NotFound.class)
        .hasMessageContaining("semaphore 'none'")
        .hasMessageContaining("create");
  }

  @Test
  void numbersAndTimesOutOfRange() {
    AmqpLocks locks = fixture.open();
    for (int slots : new int[] {0, -1, 10_001}) {
      assertThatThrownBy(() -> locks.admin().slotSemaphore("s").create(slots))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining("semaphore 's'")
          .hasMessageContaining(Integer.toString(slots));
      assertThatThrownBy(() -> locks.admin().slotSemaphore("s").createIfAbsent(slots))
          .isInstanceOf(LockException.Invalid.class);
    }
    assertThatThrownBy(() -> locks.mutex("m").acquire(Duration.ofMillis(-1)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("mutex 'm'");
    assertThat(locks.status().session()).isEqualTo(LocksStatus.Session.NOT_OPENED);
  }
}
