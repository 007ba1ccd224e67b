package io.amqplocks.juc;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What MIGRATION tells users to write; {@code ReadmeTest} compares the two. */
@BrokerTest
class MigrationTest {

  @Test
  void aReentrantLock(Broker broker) throws Exception {
    String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";
    try (AmqpLocks locks =
        AmqpLocks.builder(broker.connectionFactory()).queuePrefix(prefix).build()) {
      ReentrantLocks reentrant =
          new ReentrantLocks(Duration.ofMinutes(5)); // how long lock() waits at most
      Lock lock = reentrant.of(locks.mutex("orders"));
      lock.lock();
      try {
        assertThat(reentrant.of(locks.mutex("orders")).getHoldCount()).isOne();
      } finally {
        lock.unlock();
      }
    }
  }
}
