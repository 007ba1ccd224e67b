package io.amqplocks;

import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * The numbers of ADR 11 and 12, printed and not judged; run it by name. All variants take turns, so
 * that whatever else the machine does meets all of them.
 */
@BrokerTest(everyLine = true)
class PersistentMutexNumbers {

  private static final int MANY = 100;
  private static final int WARM_UP = 300;
  private static final int ROUNDS = 1_500;

  private final Map<String, Step> variants = new LinkedHashMap<>();
  private final Random random = new Random(7);

  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  @Test
  void print(Broker broker) throws Exception {
    try (Fixture fixture = new Fixture(broker);
        Connection connection = broker.connectionFactory().newConnection("numbers");
        Connection others = broker.connectionFactory().newConnection("numbers others")) {
      AmqpLocks locks = fixture.open();
      mutexes(fixture, locks, connection);
      pairs(fixture, locks);
      consumers(fixture, connection, others);
      report(broker);
    }
  }

  private void mutexes(Fixture fixture, AmqpLocks locks, Connection connection) throws Exception {
    String prefix = fixture.prefix();
    Channel channel = connection.createChannel();
    variants.put(
        "raw exclusive declare + delete",
        () -> {
          channel.asyncCompletableRpc(QueueArguments.exclusive(prefix + "raw")).get();
          channel.queueDelete(prefix + "raw");
        });
    AmqpLock mutex = locks.mutex("m");
    variants.put("mutex", () -> mutex.tryAcquire().orElseThrow().close());
    String durable = durable(fixture, "durable");
    variants.put("raw passive + consume + cancel", () -> take(channel, durable));
    fixture.enable(locks, "m");
    AmqpLock persistent = locks.persistentMutex("m");
    variants.put("persistent mutex", () -> persistent.tryAcquire().orElseThrow().close());
    AmqpLocks other = fixture.open();
    fixture.enable(other, "busy");
    expect(other.persistentMutex("busy").tryAcquire().isPresent());
    AmqpLock busy = locks.persistentMutex("busy");
    variants.put("persistent mutex, busy answer", () -> expect(busy.tryAcquire().isEmpty()));
    fixture.enable(locks, "held");
    Lease held = locks.persistentMutex("held").tryAcquire().orElseThrow();
    variants.put("persistent mutex, verify", held::verify);
  }

  private void pairs(Fixture fixture, AmqpLocks locks) {
    AmqpLocks other = fixture.open();
    fixture.create(other, "five", 5);
    AmqpLock five = locks.semaphore("five");
    variants.put("A/B pairs, 5 slots, free", () -> five.tryAcquire().orElseThrow().close());
    fixture.create(other, "many", MANY);
    for (int i = 1; i < MANY; i++) {
      expect(other.semaphore("many").tryAcquire().isPresent());
    }
    AmqpLock many = locks.semaphore("many");
    variants.put("A/B pairs, 99 of 100 held", () -> many.tryAcquire().orElseThrow().close());
    fixture.create(other, "full", MANY);
    for (int i = 0; i < MANY; i++) {
      expect(other.semaphore("full").tryAcquire().isPresent());
    }
    AmqpLock full = locks.semaphore("full");
    variants.put("A/B pairs, 100 held, busy", () -> expect(full.tryAcquire().isEmpty()));
  }

  /** Slots held by exclusive consumers on A, as far as it takes to time them. */
  private void consumers(Fixture fixture, Connection connection, Connection others)
      throws Exception {
    List<String> five = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      five.add(durable(fixture, "five-" + i));
    }
    Channel channel = connection.createChannel();
    variants.put("consumers, 5 slots, free", () -> take(channel, five.get(random.nextInt(5))));
    List<String> many = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      many.add(durable(fixture, "many-" + i));
    }
    int free = 41;
    for (String each : many) {
      if (!each.equals(many.get(free))) {
        Channel holder = others.createChannel();
        holder.basicConsume(each, true, "", false, true, null, new DefaultConsumer(holder));
      }
    }
    variants.put(
        "consumers, 99 of 100 held, one by one",
        () -> {
          List<String> order = new ArrayList<>(many);
          Collections.shuffle(order, random);
          for (String each : order) {
            if (channel.queueDeclarePassive(each).getConsumerCount() == 0) {
              consume(channel, each);
              return;
            }
          }
          expect(false);
        });
    List<Channel> lookers = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      lookers.add(connection.createChannel());
    }
    variants.put(
        "consumers, 99 of 100 held, 100 channels",
        () -> consume(channel, many.get(look(lookers, many))));
    String last = many.get(free);
    variants.put(
        "consumers, 100 held, busy, 100 channels",
        () -> {
          // Any one in the place of the free one.
          List<String> full = new ArrayList<>(many);
          full.set(full.indexOf(last), many.get(0));
          expect(look(lookers, full) < 0);
        });
  }

  private static int look(List<Channel> lookers, List<String> queues) throws Exception {
    List<CompletableFuture<Command>> answers = new ArrayList<>();
    for (int i = 0; i < queues.size(); i++) {
      answers.add(lookers.get(i).asyncCompletableRpc(QueueArguments.passive(queues.get(i))));
    }
    int free = -1;
    for (int i = 0; i < queues.size(); i++) {
      if (((DeclareOk) answers.get(i).get().getMethod()).getConsumerCount() == 0) {
        free = i;
      }
    }
    return free;
  }

  private static String durable(Fixture fixture, String name) throws Exception {
    String queue = fixture.prefix() + "numbers." + name;
    fixture.willStay(queue);
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().asyncCompletableRpc(QueueArguments.slot(queue)).get();
    }
    return queue;
  }

  private static void take(Channel channel, String queue) throws Exception {
    expect(channel.queueDeclarePassive(queue).getConsumerCount() == 0);
    consume(channel, queue);
  }

  private static void consume(Channel channel, String queue) throws Exception {
    channel.basicCancel(
        channel.basicConsume(queue, true, "", false, true, null, new DefaultConsumer(channel)));
  }

  private static void expect(boolean condition) {
    if (!condition) {
      throw new IllegalStateException("The variant does not do what it says");
    }
  }

  private void report(Broker broker) throws Exception {
    Map<String, long[]> times = new LinkedHashMap<>();
    for (int round = -WARM_UP; round < ROUNDS; round++) {
      for (Map.Entry<String, Step> each : variants.entrySet()) {
        long[] taken = times.computeIfAbsent(each.getKey(), name -> new long[ROUNDS]);
        long start = System.nanoTime();
        each.getValue().run();
        if (round >= 0) {
          taken[round] = System.nanoTime() - start;
        }
      }
    }
    System.out.println("RabbitMQ " + broker.version());
    double floor = 0;
    for (Map.Entry<String, long[]> each : times.entrySet()) {
      Arrays.sort(each.getValue());
      double p50 = each.getValue()[ROUNDS / 2] / 1e3;
      double p99 = each.getValue()[ROUNDS * 99 / 100] / 1e3;
      floor = floor == 0 ? p50 : floor;
      System.out.printf(
          "%-42s p50 %7.0f us  p99 %7.0f us  %5.2f of declare + delete%n",
          each.getKey(), p50, p99, p50 / floor);
    }
  }
}
