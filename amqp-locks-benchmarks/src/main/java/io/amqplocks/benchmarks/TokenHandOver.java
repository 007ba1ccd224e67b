package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * As {@link HandOver}, of the one slot of a token semaphore. Its floor is from the return of a
 * message to its delivery to a consumer that waits, which is all that the protocol takes.
 *
 * @param type of the queue
 */
record TokenHandOver(TokenQueueType type) implements CorePath {

  private record Delivered(long at, long tag) {}

  @Override
  public String name() {
    return "hand-over, " + kind() + " token";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.5);
  }

  @Override
  public String floor() {
    return "return to delivery";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    String name = "over-" + kind();
    lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
    AmqpLocks holder = lab.locks();
    AmqpLocks waiter = lab.locks();
    holder.admin().tokenSemaphore(name).create(1, type);
    String queue = lab.leaving(lab.prefix() + "floor." + name);
    Channel held = lab.channel();
    new Raw(held).declareToken(queue, kind());
    Channel wanted = lab.channel();
    wanted.basicQos(1);
    return new Sides(
        () -> HandOver.handOver(holder.tokenSemaphore(name), waiter.tokenSemaphore(name), waiter),
        () -> handOver(held, wanted, queue));
  }

  private static long handOver(Channel held, Channel wanted, String queue) throws Exception {
    GetResponse token = held.basicGet(queue, false);
    while (token == null) {
      token = held.basicGet(queue, false);
    }
    BlockingQueue<Delivered> delivered = new ArrayBlockingQueue<>(1);
    DefaultConsumer consumer =
        new DefaultConsumer(wanted) {
          @Override
          public void handleDelivery(
              String tag, Envelope envelope, BasicProperties properties, byte[] body) {
            delivered.add(new Delivered(System.nanoTime(), envelope.getDeliveryTag()));
          }
        };
    String tag = wanted.basicConsume(queue, false, consumer);
    HandOver.letWait();
    long start = System.nanoTime();
    held.basicNack(token.getEnvelope().getDeliveryTag(), false, true);
    Delivered came = delivered.poll(10, TimeUnit.SECONDS);
    if (came == null) {
      throw new IllegalStateException("The token did not come");
    }
    wanted.basicCancel(tag);
    wanted.basicNack(came.tag(), false, true);
    return came.at() - start;
  }

  private String kind() {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
