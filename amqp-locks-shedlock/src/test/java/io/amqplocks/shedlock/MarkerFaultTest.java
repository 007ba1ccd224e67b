package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true, ownBroker = true)
class MarkerFaultTest {

  private static final Duration AT_LEAST = Duration.ofSeconds(60);

  private static final Duration BEFORE = Duration.ofSeconds(10);

  @Test
  void lockAtLeastForOutlastsTheBrokerAndIsNotProlonged(Broker broker) {
    LockConfiguration wanted =
        new LockConfiguration(Instant.now(), "restarted", Duration.ofMinutes(5), AT_LEAST);
    try (AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, broker.connectionFactory())) {
      long begin = System.nanoTime();
      provider.lock(wanted).orElseThrow().unlock();
      // Long enough to tell a marker that goes on from one that begins anew.
      await().atMost(BEFORE.multipliedBy(3)).until(() -> sinceThen(begin).compareTo(BEFORE) > 0);
      broker.faults().restart();
      assertThat(sinceThen(begin)).isLessThan(AT_LEAST);
      assertThat(retrying(provider, wanted)).isEmpty();
      Optional<SimpleLock> next =
          await()
              .atMost(Duration.ofMinutes(2))
              .pollInterval(Duration.ofMillis(200))
              .until(() -> retrying(provider, wanted), Optional::isPresent);
      assertThat(sinceThen(begin)).isBetween(AT_LEAST, AT_LEAST.plus(BEFORE));
      next.orElseThrow().unlock();
    }
  }

  @Test
  void noMarkerNoLock(Broker broker) {
    LockConfiguration free =
        new LockConfiguration(Instant.now(), "alarmed", Duration.ofMinutes(5), Duration.ZERO);
    LockConfiguration kept =
        new LockConfiguration(
            Instant.now(), "alarmed", Duration.ofMinutes(5), Duration.ofSeconds(3));
    try (AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, broker.connectionFactory())) {
      provider.lock(free).orElseThrow().unlock();
      broker.faults().memoryAlarm(true);
      try {
        assertThatThrownBy(() -> provider.lock(kept))
            .isInstanceOf(LockException.Unreachable.class)
            .hasMessageContaining("alarmed");
        assertThat(locks.leases()).isEmpty();
      } finally {
        broker.faults().memoryAlarm(false);
      }
      // The marker that came too late keeps the lock for its time, and not for longer.
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> retrying(provider, free), Optional::isPresent)
          .orElseThrow()
          .unlock();
    }
  }

  private static Duration sinceThen(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  /** The first calls after a restart find out that their connections are gone. */
  private static Optional<SimpleLock> retrying(
      AmqpLockProvider provider, LockConfiguration wanted) {
    return await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> provider.lock(wanted), answer -> true);
  }
}
