package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A holder that hangs, and the others. */
@BrokerTest(everyLine = true)
class HoldAtMostTest {

  private static final Duration LIMIT = Duration.ofMillis(500);
  private static final Duration LONG = Duration.ofMinutes(1);

  @RegisterExtension private final Fixture fixture = new Fixture();

  /** A lock, and what is wanted of it. */
  record View(String lock, String name, UnaryOperator<AmqpLock> view) {
    AmqpLock of(AmqpLocks locks) {
      return view.apply(LockArgument.lock(locks, lock));
    }

    @Override
    public String toString() {
      return lock + " " + name;
    }
  }

  static Stream<View> views() {
    return Stream.of(
        new View("mutex:l", "", lock -> lock),
        new View("exclusive:x", "", lock -> lock),
        new View("persistent:l", "", lock -> lock),
        new View("fenced:f", "", lock -> lock),
        new View("mutex:l", "fenced", AmqpLock::fenced),
        new View("semaphore:l", "both", lock -> lock.withPermits(2)),
        new View("tokens:classic", "both", lock -> lock.withPermits(2)),
        new View("tokens:quorum", "both, fenced", lock -> lock.withPermits(2).fenced()),
        new View("tokens:one", "unfair", AmqpLock::unfair));
  }

  private AmqpLocks make() {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "l", 2);
    fixture.enable(locks, "l");
    locks.admin().tokenSemaphore("classic").create(2, TokenQueueType.CLASSIC);
    locks.admin().tokenSemaphore("quorum").create(2, TokenQueueType.QUORUM);
    locks.admin().tokenSemaphore("one").create(1, TokenQueueType.QUORUM);
    return locks;
  }

  @ParameterizedTest
  @MethodSource("views")
  void othersGoOnWhenTheTimeIsOver(View view) throws Exception {
    AmqpLocks mine = make();
    AmqpLocks theirs = fixture.open();
    AmqpLock limited = view.of(mine).holdAtMost(LIMIT);
    AmqpLock other = view.of(theirs);

    Lease lease = limited.acquire(LONG);
    assertThat(lease.whenLost())
        .succeedsWithin(LONG)
        .extracting(LossReason::cause)
        .isEqualTo(Cause.HOLD_LIMIT);
    assertThat(lease.age()).isGreaterThanOrEqualTo(LIMIT);
    try (Lease next = other.acquire(LONG)) {
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
      lease.close();
      assertThat(next.verify()).as("it is no longer ours to release").isEqualTo(LeaseState.HELD);
      assertThat(limited.tryAcquire()).isEmpty();
    }
    // A machine that stalls looks at it too late.
    Awaitility.await()
        .untilAsserted(
            () -> {
              try (Lease again = limited.acquire(LONG)) {
                assertThat(again.state()).as("with a time of its own").isEqualTo(LeaseState.HELD);
              }
            });
  }

  @Test
  void everyWayToAcquireIsLimited() throws Exception {
    AmqpLock mutex = fixture.open().mutex("m").holdAtMost(LIMIT);
    assertThat(mutex.tryAcquire().orElseThrow().whenLost()).succeedsWithin(LONG);
    assertThat(mutex.acquire(LONG).whenLost()).succeedsWithin(LONG);
    assertThat(mutex.acquireAsync(LONG).join().whenLost()).succeedsWithin(LONG);
  }

  @Test
  void aListenerThatBlocksHoldsNothingUp() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    LockListener slow =
        new LockListener() {
          @Override
          public void acquired(Lease lease, Duration waited) {
            blocked.countDown();
            awaitQuietly(end);
          }
        };
    AmqpLocks mine = fixture.open(fixture.builder().listener(slow));
    Lease lease = mine.mutex("m").holdAtMost(LIMIT).acquire(LONG);
    try {
      assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
      try (Lease next = fixture.open().mutex("m").acquire(LONG)) {
        assertThat(next.state()).isEqualTo(LeaseState.HELD);
        assertThat(lease.lossReason()).map(LossReason::cause).contains(Cause.HOLD_LIMIT);
        assertThat(lease.whenLost()).succeedsWithin(LONG.dividedBy(2));
      }
    } finally {
      end.countDown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      boolean unused = latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** By heartbeats alone, the lease would be HELD for 17 s more. */
  @Test
  void aBrokerThatIsSilentHoldsNothingUp() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory = fixture.broker().connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks mine =
          fixture.connected(fixture.builder(factory).callTimeout(Duration.ofSeconds(2)));
      AmqpLock mutex = mine.mutex("m");
      mutex.acquire(LONG).close();
      Lease lease = mutex.holdAtMost(LIMIT.multipliedBy(2)).acquire(LONG);
      proxy.blackHole(Direction.BOTH);
      Awaitility.await()
          .atMost(Fixture.AT_ONCE)
          .untilAsserted(
              () ->
                  assertThat(lease.lossReason())
                      .map(LossReason::cause)
                      .isEqualTo(Optional.of(Cause.HOLD_LIMIT)));
      proxy.heal();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S"})
  void aTimeThatIsNoneIsRefused(String time) {
    AmqpLock mutex = fixture.open().mutex("m");
    assertThatExceptionOfType(LockException.Invalid.class)
        .isThrownBy(() -> mutex.holdAtMost(Duration.parse(time)))
        .withMessageContaining("mutex 'm'")
        .withMessageContaining(time)
        .withMessageContaining("use more than zero");
  }
}
