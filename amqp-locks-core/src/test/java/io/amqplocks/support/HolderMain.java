package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that holds locks and does what it is told on its standard input, with each of them.
 * Arguments: broker URI, prefix, the locks as {@link LockArgument} has them, with commas between,
 * heartbeat in seconds.
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
            .heartbeat(Duration.ofSeconds(Long.parseLong(args[3])))
            .build()) {
      List<Lease> leases = new ArrayList<>();
      for (String lock : args[2].split(",", -1)) {
        leases.add(ColdStart.acquire(LockArgument.lock(locks, lock)));
      }
      System.out.println("HELD " + leases.size());
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        for (Lease lease : leases) {
          System.out.println(obey(order, lease));
        }
      }
    }
  }

  private static String obey(String order, Lease lease) {
    return switch (order) {
      case "state" -> "STATE " + lease.state() + " " + lease.lossReason();
      case "verify" -> "VERIFIED " + lease.verify();
      case "release" -> {
        lease.close();
        yield "RELEASED";
      }
      default -> throw new IllegalArgumentException(order);
    };
  }
}
