package io.amqplocks.shedlock;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Locks in a process of its own. With a duration it holds the lock until it is killed, and says
 * since when; with a file it counts in it.
 */
final class LockingMain {

  private LockingMain() {}

  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    try (AmqpLocks locks = AmqpLocks.builder(factory).build();
        AmqpLockProvider provider = new AmqpLockProvider(locks, factory)) {
      if (args[2].startsWith("PT")) {
        LockConfiguration wanted =
            new LockConfiguration(
                Instant.now(), args[1], Duration.ofHours(1), Duration.parse(args[2]));
        long begin = System.currentTimeMillis();
        Optional<SimpleLock> lock = provider.lock(wanted);
        System.out.println(lock.isPresent() ? "held " + begin : "busy");
        TimeUnit.HOURS.sleep(1);
      } else {
        System.out.println("counting");
        SharedCounter.add(provider, args[1], Path.of(args[2]), 25);
        System.out.println("done");
      }
    }
  }
}
