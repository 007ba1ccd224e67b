package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;

/**
 * As {@link HandOver}, of a mutex that is held by its active consumer. Its floor is from the cancel
 * and requeue by one bare client to the delivery to another one that stands by, which is all that
 * the protocol takes.
 *
 * @param persistent whether the mutex is
 */
record MutexHandOver(boolean persistent) implements CorePath {

  @Override
  public String name() {
    return persistent ? "hand-over, persistent mutex" : "hand-over, mutex";
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
    if (persistent) {
      lab.persistentMutex(holder, "over");
    }
    Channel channel = lab.channel();
    String queue = ActiveConsumerLoop.declare(lab, channel, "over");
    ActiveConsumerLoop held = new ActiveConsumerLoop(channel, queue);
    ActiveConsumerLoop wanted = new ActiveConsumerLoop(lab.channel(), queue);
    return new Sides(
        () -> HandOver.handOver(lock(holder), lock(waiter), waiter), () -> handOver(held, wanted));
  }

  private AmqpLock lock(AmqpLocks locks) {
    return persistent ? locks.persistentMutex("over") : locks.mutex("over");
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
