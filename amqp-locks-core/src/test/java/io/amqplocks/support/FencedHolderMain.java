package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;

/**
 * A process that holds a fenced lock and, when told so, writes under it whatever became of its lease,
 * as one does that was stopped between looking at the lease and writing. Arguments: broker URI, prefix,
 * mutex or semaphore, name, and the URL of a database, if it is to write.
 */
public final class FencedHolderMain {

  private FencedHolderMain() {}

  /** Holds. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks =
        AmqpLocks.builder(factory).queuePrefix(args[1]).heartbeat(Duration.ofSeconds(2)).build()) {
      AmqpLock lock = args[2].equals("mutex") ? locks.mutex(args[3]) : locks.semaphore(args[3]);
      Lease lease = ColdStart.acquire(lock.fenced());
      long token = lease.fencingToken().number();
      System.out.println("TOKEN " + token);
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        try (Connection database = DriverManager.getConnection(args[4], "sa", "")) {
          int taken = 0;
          for (int i = 0; i < 100; i++) {
            taken += GuardedTable.write(database, lease.slot(), order, token) ? 1 : 0;
          }
          System.out.println("TAKEN " + taken);
        }
      }
    }
  }
}
