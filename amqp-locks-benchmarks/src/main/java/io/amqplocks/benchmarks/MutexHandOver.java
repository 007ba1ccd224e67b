package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;

/**
 * As {@link HandOver}, of the default mutex. Its floor is from the cancel and requeue by one bare
 * client to the delivery to another one that stands by, which is all that the protocol takes.
 */
record MutexHandOver() implements CorePath {

  @Override
  public String name() {
    return "hand-over, mutex";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.5);
  }

  @Override
  public String floor() {
    return "cancel + requeue to delivery";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks holder = lab.locks();
    AmqpLocks waiter = lab.locks();
    Channel channel = lab.channel();
    String queue = ActiveConsumerLoop.declare(lab, channel, "over");
    ActiveConsumerLoop held = new ActiveConsumerLoop(channel, queue);
    ActiveConsumerLoop wanted = new ActiveConsumerLoop(lab.channel(), queue);
    return new Sides(
        () -> HandOver.handOver(holder.mutex("over"), waiter.mutex("over"), waiter),
        () -> handOver(held, wanted));
  }

  static long handOver(ActiveConsumerLoop held, ActiveConsumerLoop wanted) throws Exception {
    String first = held.consume();
    long message = held.receive();
    String second = wanted.consume();
    HandOver.letWait();
    long start = System.nanoTime();
    held.release(first, message);
    long next = wanted.receive();
    long nanos = System.nanoTime() - start;
    wanted.release(second, next);
    return nanos;
  }
}
