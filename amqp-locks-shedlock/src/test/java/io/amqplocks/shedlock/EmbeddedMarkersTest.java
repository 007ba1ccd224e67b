package io.amqplocks.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.junit.jupiter.api.Test;

/** The broker in the JVM has mutexes, and no queue as the markers need it. */
@BrokerTest(embedded = true)
class EmbeddedMarkersTest {

  @Test
  void areRefusedAndThatIsNoOutage(Broker broker) {
    try (AmqpLocks locks = AmqpLocks.builder(broker.connectionFactory()).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, broker.connectionFactory())) {
      for (Duration atLeast : new Duration[] {Duration.ZERO, Duration.ofSeconds(5)}) {
        LockConfiguration job =
            new LockConfiguration(Instant.now(), "job", Duration.ofMinutes(5), atLeast);
        assertThatThrownBy(() -> provider.lock(job))
            .isInstanceOf(LockException.Unsupported.class)
            .hasMessageContaining("RabbitMQ")
            .hasMessageContaining("the lock 'job'");
        assertThat(locks.leases()).isEmpty();
      }
    }
  }
}
