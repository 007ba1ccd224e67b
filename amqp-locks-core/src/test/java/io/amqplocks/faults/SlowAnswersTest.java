package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that come late, or not before the locks are closed: neither means that others hold. */
@BrokerTest
class SlowAnswersTest {

  private static final Duration CERTAIN = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private TcpProxy proxy;

  @BeforeEach
  void connect(Broker broker) throws Exception {
    proxy = TcpProxy.to(broker);
  }

  @AfterEach
  void disconnect() {
    proxy.close();
  }

  private AmqpLocksBuilder throughTheProxy() {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return fixture.builder(factory);
  }

  /** A free lock of that kind. */
  private AmqpLock free(AmqpLocks locks, String kind) {
    if (kind.equals("tokens")) {
      locks.admin().tokenSemaphore("x").create(1, TokenQueueType.CLASSIC);
    } else if (kind.equals("semaphore")) {
      fixture.create(locks, "x", 1);
    }
    AmqpLock lock = LockArgument.lock(locks, kind + ":x");
    Fixture.first(lock).close();
    return lock;
  }

  /** A job that is skipped where others hold the lock would run nowhere. */
  @ParameterizedTest
  @ValueSource(strings = {"mutex", "exclusive", "fenced", "tokens", "semaphore"})
  void aLeaseThatIsInDoubtAtOnceIsNoBusyLock(String kind) throws Exception {
    AmqpLocks locks =
        fixture.open(throughTheProxy().heartbeat(LONG).callTimeout(LONG).certainFor(CERTAIN));
    AmqpLock lock = free(locks, kind);
    proxy.delay(Direction.BROKER_TO_CLIENT, CERTAIN.plusMillis(200));
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining(lock.id() + " was in doubt at once");
    proxy.heal();
    // And it was given back.
    AmqpLock others = LockArgument.lock(fixture.open(), kind + ":x");
    try (Lease lease = others.acquire(Duration.ofMinutes(1))) {
      assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    }
  }

  /** With onUnavailable = RUN, an outage would run the method while others get the lock. */
  @ParameterizedTest
  @ValueSource(strings = {"mutex", "fenced", "semaphore"})
  void whatIsClosedMeanwhileIsNoOutage(String kind) throws Exception {
    assertIsClosedMeanwhile(kind, AmqpLock::tryAcquire);
    assertIsClosedMeanwhile(kind, lock -> lock.failFast().acquire(Duration.ofMinutes(1)));
  }

  private void assertIsClosedMeanwhile(String kind, Use use) throws Exception {
    AmqpLocks locks = fixture.open(throughTheProxy().heartbeat(LONG).callTimeout(LONG));
    AmqpLock lock = free(locks, kind);
    proxy.blackHole(Direction.BROKER_TO_CLIENT);
    FutureTask<Object> call = new FutureTask<>(() -> use.of(lock));
    Thread caller = new Thread(call, "caller");
    caller.start();
    await().until(() -> caller.getState() == Thread.State.TIMED_WAITING);
    locks.close(Duration.ZERO);
    assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(LockException.Closed.class)
        .hasMessageContaining(lock.id().toString());
    proxy.heal();
  }

  /** A way to use a lock. */
  private interface Use {
    Object of(AmqpLock lock) throws Exception;
  }
}
