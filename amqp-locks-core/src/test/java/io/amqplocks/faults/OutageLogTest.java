package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** What an operator reads when the broker goes: once, and whose leases are lost. */
@BrokerTest
class OutageLogTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Warnings warnings = new Warnings();

  @SuppressWarnings("NullAway.Init")
  private TcpProxy proxy;

  /** Warnings of this test's connections and threads: other tests run at the same time. */
  private final class Warnings extends AppenderBase<ILoggingEvent> {
    private final List<String> texts = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      String thread = event.getThreadName();
      boolean ours =
          thread.startsWith("amqp-locks " + fixture.prefix())
              || thread.endsWith(":" + proxy.port());
      if (event.getLevel().isGreaterOrEqual(Level.WARN) && ours) {
        texts.add(event.getFormattedMessage());
      }
    }
  }

  @BeforeEach
  void begin() {
    proxy = TcpProxy.to(fixture.broker());
    warnings.start();
    root.addAppender(warnings);
  }

  @AfterEach
  void end() {
    root.detachAppender(warnings);
    proxy.close();
  }

  private ConnectionFactory through() {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }

  @Test
  void theLeasesThatAreLostWithASessionAreNamedInOneWarning() throws Exception {
    AmqpLocks locks =
        fixture.open(fixture.seldomVerifying(through()).connectionName(fixture.prefix()));
    int unused = locks.admin().tokenSemaphore("s").createIfAbsent(3, TokenQueueType.CLASSIC);
    Lease mutex = locks.mutex("m").acquire(Fixture.AT_ONCE);
    Lease permits = locks.tokenSemaphore("s").acquire(2, Fixture.AT_ONCE);

    proxy.reset();

    await().until(() -> mutex.state() == LeaseState.LOST && permits.state() == LeaseState.LOST);
    await().until(() -> !warnings.texts.isEmpty());
    await().during(Duration.ofMillis(500)).until(() -> warnings.texts.size() == 1);
    assertThat(warnings.texts.get(0))
        .startsWith("Session with RabbitMQ ended: ")
        .endsWith("its leases are lost: 2 permits of token semaphore 's'; slot 1 of mutex 'm'");
  }

  @Test
  void anIdleSessionEndsWithoutAWarning() {
    AmqpLocks locks = fixture.open(fixture.builder(through()).connectionName(fixture.prefix()));
    locks.connect();
    proxy.reset();
    await().until(() -> locks.status().session() == Session.ENDED);
    assertThat(warnings.texts).isEmpty();
  }

  @Test
  void leasesThatAreCutShortByAShutdownAreNamed() throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder(through()).connectionName(fixture.prefix()));
    Lease released = locks.mutex("released").acquire(Fixture.AT_ONCE);
    Lease kept = locks.mutex("kept").acquire(Fixture.AT_ONCE);
    released.close();
    Thread closing =
        new Thread(() -> locks.close(Duration.ofMillis(20)), "amqp-locks " + fixture.prefix());
    closing.start();
    closing.join(Fixture.AT_ONCE.plusSeconds(30).toMillis());
    assertThat(kept.state()).isNotEqualTo(LeaseState.HELD);
    assertThat(warnings.texts)
        .containsExactly(
            "The shutdown waited PT0.02S for holders, and releases the leases that are left now: of [mutex 'kept']");
  }

  @Test
  void connectingFailsWithWordsThatNameNoLock() {
    AmqpLocks locks = fixture.open(fixture.builder(through()));
    proxy.close();
    assertThatExceptionOfType(LockException.Unreachable.class)
        .isThrownBy(locks::connect)
        .withMessageContaining("for the locks of this process: ");
    locks.close();
    assertThatExceptionOfType(LockException.Closed.class).isThrownBy(locks::connect);
  }
}
