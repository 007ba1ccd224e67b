package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.DeliveryHandler;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A process that consumes a queue of numbers alone, and says of each when it began and ended with it, and
 * whether it was certainly the active one then. Arguments: broker URI, prefix, queue, heartbeat in seconds.
 * Orders: "hand over", "take over", "hold" (do not finish what you handle next), "go" (finish).
 */
public final class SoleConsumerMain {

  private static volatile CountDownLatch gate = new CountDownLatch(0);

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
            SoleConsumer.of(locks.mutex("sole"), factory, args[2], new Handling())
                .listener(new Saying())
                .handOverOnRequest()
                .build()) {
      consumer.start();
      System.out.println("STARTED");
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        switch (order) {
          case "hold" -> {
            gate = new CountDownLatch(1);
            System.out.println("HOLDS");
          }
          case "go" -> gate.countDown();
          case "take over" -> {
            System.out.println("TAKING OVER");
            System.out.println("TAKES OVER " + consumer.takeOver(Duration.ofSeconds(60)));
          }
          default -> System.out.println("HANDS OVER " + consumer.handOver());
        }
      }
    }
  }

  private static final class Handling implements DeliveryHandler {
    @Override
    public void handle(Delivery delivery) throws InterruptedException {
      long begin = System.nanoTime();
      String number = new String(delivery.body(), StandardCharsets.UTF_8);
      if (gate.getCount() > 0) {
        System.out.println("BEGUN " + number);
        gate.await();
      }
      long end = System.nanoTime();
      System.out.println("HANDLED " + number + " " + begin + " " + end + " " + delivery.isActive());
    }

    @Override
    public void interrupted(Delivery delivery, Revocation why) {
      System.out.println("INTERRUPTED " + why.cause());
    }
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
