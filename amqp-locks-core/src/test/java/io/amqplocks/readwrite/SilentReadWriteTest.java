package io.amqplocks.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.SentMethods;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who has a consumer at the gate and one of the lock waits for a silent broker only once. */
@BrokerTest(everyLine = true)
class SilentReadWriteTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

  /** Two call timeouts would be longer, and one is shorter on a busy machine too. */
  private static final Duration ONCE = CALL_TIMEOUT.multipliedBy(17).dividedBy(10);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final SentMethods sent = new SentMethods();

  @SuppressWarnings("NullAway.Init")
  private TcpProxy proxy;

  @SuppressWarnings("NullAway.Init")
  private AmqpReadWriteLock both;

  @SuppressWarnings("NullAway.Init")
  private AmqpLock lock;

  @BeforeEach
  void begin() {
    proxy = TcpProxy.to(fixture.broker());
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    factory.setSocketFactory(sent);
    AmqpLocks locks = fixture.open(fixture.seldomVerifying(factory).callTimeout(CALL_TIMEOUT));
    both = locks.readWriteLock("m");
    lock = both.writeLock();
    // From now on everything is open that a call needs.
    Fixture.first(lock).close();
    gateIsFree();
  }

  @AfterEach
  void end() {
    proxy.heal();
    proxy.reset();
    fixture.closeLocks();
    proxy.close();
  }

  private void gateIsFree() {
    fixture.awaitConsumers(gate(), 0);
  }

  private String gate() {
    return fixture.names().readWriteGate(LockName.of("m"));
  }

  /** The broker is silent when the lock's queue is consumed. The gate has been won by then. */
  private void becomesSilentInTheTurn() {
    sent.beforeConsume(1, () -> proxy.blackHole(Direction.BOTH));
  }

  @Test
  void aReleaseWaitsOneCallTimeout() {
    Lease lease = Fixture.first(lock);
    proxy.blackHole(Direction.BOTH);
    assertThat(time(lease::close)).isLessThan(ONCE);
  }

  @Test
  void anAttemptWaitsOneCallTimeout() {
    becomesSilentInTheTurn();
    assertThat(time(() -> isUnanswered(lock::tryAcquire))).isLessThan(ONCE);
  }

  @Test
  void aWaitThatFailsFastWaitsOneCallTimeout() {
    becomesSilentInTheTurn();
    assertThat(time(() -> isUnanswered(() -> lock.failFast().acquire(LONG)))).isLessThan(ONCE);
  }

  @Test
  void aReaderWhoseTurnItIsWaitsOneCallTimeout() {
    Lease writer = Fixture.first(fixture.open().readWriteLock("m").writeLock());
    becomesSilentInTheTurn();
    CompletableFuture<Lease> reader = both.readLock().failFast().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 2);
    writer.close();
    assertThat(
            time(
                () ->
                    assertThat(reader)
                        .failsWithin(LONG)
                        .withThrowableThat()
                        .withCauseInstanceOf(LockException.Unanswered.class)))
        .isLessThan(ONCE);
  }

  /** Everything reaches the broker, but its replies are late. */
  @Test
  void theTurnIsGivenBackAllTheSame() {
    sent.beforeConsume(
        1, () -> proxy.delay(Direction.BROKER_TO_CLIENT, CALL_TIMEOUT.plusSeconds(5)));
    isUnanswered(lock::tryAcquire);
    gateIsFree();
    proxy.heal();
    Fixture.first(lock).close();
  }

  private static void isUnanswered(ThrowingCallable acquire) {
    assertThatExceptionOfType(LockException.Unanswered.class).isThrownBy(acquire);
  }

  private static Duration time(Runnable call) {
    long start = System.nanoTime();
    call.run();
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
