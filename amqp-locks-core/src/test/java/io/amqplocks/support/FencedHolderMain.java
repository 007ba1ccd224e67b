package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that holds fenced locks and, when told so, writes under each whatever became of its
 * lease, as one does that was stopped between looking at the lease and writing. Arguments: broker
 * URI, prefix, the locks as {@link LockArgument} has them, with commas between, and the URL of a
 * database with a row for each, if it is to write.
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
      List<Long> tokens = new ArrayList<>();
      for (String lock : args[2].split(",", -1)) {
        Lease lease = ColdStart.acquire(LockArgument.lock(locks, lock).fenced());
        tokens.add(lease.fencingToken().number());
        System.out.println("TOKEN " + tokens.get(tokens.size() - 1));
      }
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        try (Connection database = DriverManager.getConnection(args[3], "sa", "")) {
          for (int row = 1; row <= tokens.size(); row++) {
            System.out.println("TAKEN " + taken(database, row, order, tokens.get(row - 1)));
          }
        }
      }
    }
  }

  private static int taken(Connection database, int row, String body, long token)
      throws SQLException {
    int taken = 0;
    for (int i = 0; i < 100; i++) {
      taken += GuardedTable.write(database, row, body, token) ? 1 : 0;
    }
    return taken;
  }
}
