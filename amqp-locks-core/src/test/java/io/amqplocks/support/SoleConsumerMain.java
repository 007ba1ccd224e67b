package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that consumes a queue of numbers alone, and says of each when it began and ended with it, and
 * whether it was certainly the active one then. Arguments: broker URI, prefix, queue, heartbeat in seconds.
 */
public final class SoleConsumerMain {

  private SoleConsumerMain() {}

  /** Consumes. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    int heartbeat = Integer.parseInt(args[3]);
    factory.setRequestedHeartbeat(heartbeat);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks =
            AmqpLocks.builder(factory)
                .queuePrefix(args[1])
                .heartbeat(Duration.ofSeconds(heartbeat))
                .build();
        SoleConsumer consumer =
            SoleConsumer.of(locks.mutex("sole"), factory, args[2], SoleConsumerMain::handle)
                .listener(new Saying())
                .build()) {
      consumer.start();
      System.out.println("STARTED");
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        System.out.println("HANDS OVER " + consumer.handOver());
      }
    }
  }

  private static void handle(Delivery delivery) {
    long begin = System.nanoTime();
    String number = new String(delivery.body(), StandardCharsets.UTF_8);
    long end = System.nanoTime();
    System.out.println("HANDLED " + number + " " + begin + " " + end + " " + delivery.isActive());
  }

  private static final class Saying implements LeaderListener {
    @Override
    public void granted(Leadership leadership) {
      System.out.println("ACTIVE");
    }

    @Override
    public void revoked(Leadership leadership, Revocation revocation) {
      System.out.println("PASSIVE " + revocation);
    }
  }
}
