package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import java.time.Duration;

/**
 * A process that waits for several permits for an hour. Arguments: broker URI, prefix, the
 * semaphore as {@link LockArgument} has it, the number of permits.
 */
public final class CollectorMain {

  private CollectorMain() {}

  /** Waits. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    try (AmqpLocks locks = AmqpLocks.builder(factory).queuePrefix(args[1]).build()) {
      ColdStart.connect(locks);
      System.out.println("WAITING");
      try (Lease lease =
          LockArgument.lock(locks, args[2])
              .acquire(Integer.parseInt(args[3]), Duration.ofHours(1))) {
        System.out.println("HELD " + lease.permits());
      }
    }
  }
}
