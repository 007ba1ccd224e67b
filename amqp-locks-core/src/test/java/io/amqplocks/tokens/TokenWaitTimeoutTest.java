package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A free token is not kept from those who want it by one who stopped waiting for it. */
@BrokerTest(everyLine = true)
class TokenWaitTimeoutTest {

  private static final int IMPATIENT = 6;
  private static final Duration FOR = Duration.ofSeconds(2);

  /**
   * A token that comes to one who has left costs a round trip, and at worst each of six has just
   * left: 17 to 173 ms. The rest is for a busy machine. One that stayed hidden would be so until
   * its connection ends.
   */
  private static final Duration LONGEST = Duration.ofSeconds(10);

  private static final int ENOUGH = 100;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger timeouts = new AtomicInteger();
  private final AtomicInteger leases = new AtomicInteger();
  private final AtomicLong freeSince = new AtomicLong();
  private final AtomicLong wantedSince = new AtomicLong();
  private final AtomicLong longest = new AtomicLong();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  @ParameterizedTest
  @EnumSource
  void timeoutsRacingWithReleasesHideNoToken(TokenQueueType type) throws Exception {
    fixture.open().admin().tokenSemaphore("s").create(1, type);
    long end = System.nanoTime() + FOR.toNanos();
    freeSince.set(System.nanoTime());
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < IMPATIENT; i++) {
      AmqpLock lock = fixture.open().tokenSemaphore("s");
      all.add(threads.submit(() -> impatient(lock, end)));
    }
    AmqpLock lock = fixture.open().tokenSemaphore("s");
    int served = 0;
    while (goesOn(end)) {
      wantedSince.set(System.nanoTime());
      try (Lease lease = lock.acquire(Duration.ofMinutes(1))) {
        use();
        served++;
      }
    }
    for (Future<?> each : all) {
      each.get(90, TimeUnit.SECONDS);
    }
    System.out.printf(
        "%s tokens on RabbitMQ %s: %d leases, %d of them the patient one's, %d timeouts; longest that a"
            + " free token was not to be had: %.1f ms%n",
        type,
        fixture.broker().version(),
        leases.get(),
        served,
        timeouts.get(),
        longest.get() / 1e6);
    assertThat(timeouts.get()).isGreaterThan(ENOUGH);
    assertThat(served).isPositive();
    assertThat(Duration.ofNanos(longest.get())).isLessThan(LONGEST);
  }

  private boolean goesOn(long end) {
    return end - System.nanoTime() > 0 || timeouts.get() <= ENOUGH;
  }

  private Void impatient(AmqpLock lock, long end) throws InterruptedException {
    while (goesOn(end)) {
      long nanos = ThreadLocalRandom.current().nextLong(8_000_000);
      try (Lease lease = lock.acquire(Duration.ofNanos(nanos))) {
        use();
      } catch (LockException.AcquireTimeout e) {
        timeouts.incrementAndGet();
      }
    }
    return null;
  }

  /** By the only holder there is: how long was it free, while the patient one wanted it? */
  private void use() {
    long since = freeSince.get();
    long wanted = wantedSince.get();
    long nanos = System.nanoTime() - (wanted - since > 0 ? wanted : since);
    longest.accumulateAndGet(nanos, Math::max);
    leases.incrementAndGet();
    // The lease is closed after this.
    freeSince.set(System.nanoTime());
  }

  @ParameterizedTest
  @EnumSource
  void aTokenThatComesTooLateGoesBackAtOnce(TokenQueueType type) throws Exception {
    fixture.open().admin().tokenSemaphore("s").create(1, type);
    AmqpLock other = fixture.open().tokenSemaphore("s");
    other.tryAcquire().orElseThrow().close();
    Duration delay = Duration.ofSeconds(8);
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory = fixture.broker().connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLock late =
          fixture
              .open(fixture.builder(factory).callTimeout(Duration.ofMillis(1500)))
              .tokenSemaphore("s");
      Fixture.first(late).close();
      proxy.delay(Direction.BROKER_TO_CLIENT, delay);
      long start = System.nanoTime();
      assertThatThrownBy(late::tryAcquire).isInstanceOf(LockException.Unanswered.class);
      other.acquire(Duration.ofMinutes(1)).close();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(delay.plus(LONGEST));
    }
  }
}
