package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process of {@link GuardedWriters}. It prints what they count at each line on standard input,
 * and ends with the input. Arguments: broker URI, prefix, the lock as {@link LockArgument} has it,
 * the URL of the database, the row.
 */
public final class GuardedWritersMain {

  private GuardedWritersMain() {}

  /** Writes. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks =
            AmqpLocks.builder(factory)
                .queuePrefix(args[1])
                .heartbeat(Duration.ofSeconds(2))
                .build();
        GuardedWriters writers =
            new GuardedWriters(
                LockArgument.lock(locks, args[2]), args[3], Integer.parseInt(args[4]))) {
      while (orders.readLine() != null) {
        System.out.println("COUNTED " + writers);
      }
    }
  }
}
