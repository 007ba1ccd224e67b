package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker that does not answer is not a busy lock, and not for those in the second row either. */
@BrokerTest
class SilentBrokerTest {

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(8);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension private final Fixture fixture = new Fixture();

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @SuppressWarnings("NullAway.Init")
  private TcpProxy proxy;

  @SuppressWarnings("NullAway.Init")
  private AmqpLocks locks;

  @BeforeEach
  void begin() {
    proxy = TcpProxy.to(fixture.broker());
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    locks = fixture.open(fixture.builder(factory).callTimeout(CALL_TIMEOUT));
  }

  @AfterEach
  void end() {
    proxy.close();
  }

  @Test
  void whoStandsBehindOneThatIsStillAskingIsNotToldBusy() throws Exception {
    AmqpLock mutex = locks.mutex("m");
    mutex.acquire(LONG).close();
    proxy.blackHole(Direction.BOTH);
    Future<Lease> front = threads.submit(() -> mutex.acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);

    assertThatExceptionOfType(LockException.class)
        .isThrownBy(() -> mutex.acquire(SHORT))
        .matches(LockException::isOutage, "an outage");
    CompletableFuture<Lease> behind = mutex.acquireAsync(SHORT);
    assertThat(behind)
        .failsWithin(LONG)
        .withThrowableThat()
        .withCauseInstanceOf(LockException.class)
        .matches(
            failure -> failure.getCause() instanceof LockException cause && cause.isOutage(),
            "an outage");

    proxy.heal();
    proxy.reset();
    front.get(1, TimeUnit.MINUTES).close();
  }

  @Test
  void whoStandsBehindOneThatWaitsForABusyLockIsToldBusy() throws Exception {
    AmqpLock mutex = locks.mutex("m");
    try (AmqpLocks stranger = fixture.open();
        Lease held = stranger.mutex("m").acquire(LONG)) {
      Future<Lease> front = threads.submit(() -> mutex.acquire(LONG));
      await().until(() -> locks.status().waiting() == 1);
      assertThatExceptionOfType(LockException.AcquireTimeout.class)
          .isThrownBy(() -> mutex.acquire(SHORT));
      held.close();
      front.get(1, TimeUnit.MINUTES).close();
    }
  }

  @Test
  void whoDoesNotWaitForTheBrokerDoesNotQueueBehindOneWhoConnects() throws Exception {
    AmqpLock mutex = locks.mutex("m");
    mutex.acquire(LONG).close();
    proxy.blackHole(Direction.BOTH);
    proxy.reset();
    await().until(() -> locks.status().session() == Session.ENDED);
    assertThatExceptionOfType(LockException.class)
        .as("the one that finds out")
        .isThrownBy(() -> mutex.failFast().acquire(LONG))
        .matches(LockException::isOutage, "an outage");
    Future<Lease> connecting = threads.submit(() -> mutex.acquire(LONG));

    await().until(() -> locks.status().waiting() == 1);
    CompletableFuture<Lease> asynchronous = mutex.failFast().acquireAsync(LONG);
    assertThat(locks.status().waiting()).as("in line").isEqualTo(1);
    assertThat(asynchronous)
        .failsWithin(CALL_TIMEOUT.dividedBy(2))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(LockException.class)
        .matches(failure -> ((LockException) failure).isOutage(), "an outage");

    List<Future<Duration>> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      calls.add(threads.submit(() -> untilFailure(mutex.failFast())));
    }
    List<Duration> times = new ArrayList<>();
    for (Future<Duration> call : calls) {
      times.add(call.get(1, TimeUnit.MINUTES));
    }
    assertThat(times.stream().filter(time -> time.compareTo(CALL_TIMEOUT.dividedBy(2)) > 0))
        .as("times of 20 calls: %s", times)
        .hasSizeLessThanOrEqualTo(1);

    proxy.heal();
    proxy.reset();
    connecting.get(1, TimeUnit.MINUTES).close();
    await().atMost(LONG).untilAsserted(() -> mutex.failFast().acquire(Fixture.AT_ONCE).close());
  }

  private static Duration untilFailure(AmqpLock lock) throws InterruptedException {
    long start = System.nanoTime();
    try (Lease lease = lock.acquire(LONG)) {
      throw new IllegalStateException(lease + " without a broker");
    } catch (LockException e) {
      return Duration.ofNanos(System.nanoTime() - start);
    }
  }
}
