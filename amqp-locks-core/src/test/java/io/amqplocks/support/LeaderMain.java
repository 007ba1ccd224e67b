package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that contends for leadership, and closes its election at the end of its standard input.
 * Arguments: broker URI, prefix, the lock as {@link LockArgument} has it, heartbeat in seconds.
 */
public final class LeaderMain {

  private LeaderMain() {}

  /** Contends. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks =
            AmqpLocks.builder(factory)
                .queuePrefix(args[1])
                .heartbeat(Duration.ofSeconds(Long.parseLong(args[3])))
                .build();
        LeaderElection election =
            LeaderElection.on(LockArgument.lock(locks, args[2])).listener(new Saying()).build()) {
      election.start();
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        System.out.println("LEADER " + election.isLeader());
      }
    }
  }

  private static final class Saying implements LeaderListener {
    @Override
    public void granted(Leadership leadership) {
      System.out.println("GRANTED");
    }

    @Override
    public void revoked(Leadership leadership, Revocation revocation) {
      System.out.println("REVOKED " + revocation);
    }
  }
}
