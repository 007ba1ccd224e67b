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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process that holds fenced locks and, when told so, writes under each whatever became of its
 * lease, as one does that was stopped between looking at the lease and writing. Arguments: broker
 * URI, prefix, the locks as {@link LockArgument} has them, with commas between, the URL of a
 * database with a row for each, if it is to write, and {@link #HANDED_OVER}, if it is to have
 * leases that other threads of it had before.
 */
public final class FencedHolderMain {

  /** Its leases were handed over within the process. */
  public static final String HANDED_OVER = "handed over";

  private static final Duration LONG = Duration.ofSeconds(20);

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
        AmqpLock fenced = LockArgument.lock(locks, lock).fenced();
        Lease lease =
            args.length > 4 && args[4].equals(HANDED_OVER)
                ? handedOver(fenced)
                : ColdStart.acquire(fenced);
        tokens.add(lease.fencingToken().number());
        System.out.println("TOKEN " + tokens.get(tokens.size() - 1));
        System.out.println("HAND-OVERS " + lease.fencingToken().handOvers());
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

  /** On a machine so slow that the time for hand-overs is over, the slot goes to the broker. */
  private static Lease handedOver(AmqpLock lock) throws Exception {
    while (true) {
      Lease first = ColdStart.acquire(lock);
      CompletableFuture<Lease> second = lock.acquireAsync(LONG);
      CompletableFuture<Lease> third = lock.acquireAsync(LONG);
      first.close();
      second.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
      Lease lease = third.get(LONG.toSeconds(), TimeUnit.SECONDS);
      if (lease.fencingToken().handOvers() > 0) {
        return lease;
      }
      lease.close();
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
