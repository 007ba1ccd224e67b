package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that holds a lock and does what it is told on its standard input. Arguments: broker URI,
 * prefix, mutex, persistent, tokens or semaphore, name, heartbeat in seconds.
 */
public final class HolderMain {

  private HolderMain() {}

  /** Holds. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks =
        AmqpLocks.builder(factory)
            .queuePrefix(args[1])
            .heartbeat(Duration.ofSeconds(Long.parseLong(args[4])))
            .build()) {
      AmqpLock lock =
          switch (args[2]) {
            case "mutex" -> locks.mutex(args[3]);
            case "persistent" -> locks.persistentMutex(args[3]);
            case "tokens" -> locks.tokenSemaphore(args[3]);
            default -> locks.semaphore(args[3]);
          };
      Lease lease = ColdStart.acquire(lock);
      System.out.println("HELD " + lease.slot());
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        switch (order) {
          case "state" -> System.out.println("STATE " + lease.state() + " " + lease.lossReason());
          case "verify" -> System.out.println("VERIFIED " + lease.verify());
          case "release" -> {
            lease.close();
            System.out.println("RELEASED");
          }
          default -> throw new IllegalArgumentException(order);
        }
      }
    }
  }
}
