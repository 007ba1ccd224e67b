package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.DeliveryHandler;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.consumer.SoleConsumerBuilder;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.AmqpLock;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that consumes a queue of numbers alone, and says of each when it began and ended with
 * it, and whether it was certainly the active one then. Arguments: broker URI, prefix, queue,
 * heartbeat in seconds, "mutex" or "fenced" (mutex), and the ingress exchange if it consumes by two
 * ways. Orders: "hand over", "take over", "hold" (do not finish what you handle next), "go"
 * (finish). The connections of its lock are named by the prefix and the process id.
 */
public final class SoleConsumerMain {

  private static final long SPAN = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
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
                .connectionName(args[1] + ProcessHandle.current().pid())
                .heartbeat(Duration.ofSeconds(heartbeat))
                .build();
        SoleConsumer consumer = consumer(locks, factory, args)) {
      Thread certainty = new Thread(() -> sayWhileCertain(consumer), "certainty");
      certainty.setDaemon(true);
      certainty.start();
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

  private static SoleConsumer consumer(AmqpLocks locks, ConnectionFactory factory, String[] args) {
    AmqpLock lock = args[4].equals("fenced") ? locks.fencedMutex("sole") : locks.mutex("sole");
    SoleConsumerBuilder settings =
        SoleConsumer.of(lock, factory, args[2], new Handling())
            .listener(new Saying())
            .handOverOnRequest();
    if (args.length > 5) {
      settings.activeQueue(args[5], "");
    }
    return settings.build();
  }

  /**
   * Says from when to when this process certainly was the active one, by looking again and again:
   * each time it was after the first look of such a span and before the last one. A span is not
   * longer than a tenth of a second, so that little is unsaid at a {@code kill -9}, and has no
   * pause in it, in which another process may have been the active one.
   */
  private static void sayWhileCertain(SoleConsumer consumer) {
    long from = 0;
    long last = 0;
    while (true) {
      long before = System.nanoTime();
      boolean active = consumer.isActive();
      long after = System.nanoTime();
      boolean same = active && last != 0 && after - last < PAUSE && before - from < SPAN;
      if (!same && last > from) {
        System.out.println("CERTAIN " + from + " " + last);
      }
      if (!active) {
        last = 0;
      } else if (same) {
        last = before;
      } else {
        from = after;
        last = after;
      }
      LockSupport.parkNanos(1_000_000);
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
