package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;

/** A persistent mutex that nobody else wants. */
record PersistentMutexPath() implements CorePath {

  @Override
  public String name() {
    return "persistent mutex, alone";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.2);
  }

  @Override
  public String floor() {
    return "consume + delivery + cancel + requeue";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks locks = lab.locks();
    lab.persistentMutex(locks, "alone");
    AmqpLock mutex = locks.persistentMutex("alone");
    Channel channel = lab.channel();
    ActiveConsumerLoop raw =
        new ActiveConsumerLoop(channel, ActiveConsumerLoop.declare(lab, channel, "alone"));
    return new Sides(Timed.of(() -> mutex.tryAcquire().orElseThrow().close()), Timed.of(raw::run));
  }
}
