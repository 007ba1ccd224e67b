package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.lock.AmqpLock;

/** A mutex that nobody else wants, and that was used a moment before. */
record MutexPath() implements CorePath {

  @Override
  public String name() {
    return "mutex, alone";
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
    AmqpLock mutex = lab.locks().mutex("alone");
    Channel channel = lab.channel();
    ActiveConsumerLoop raw =
        new ActiveConsumerLoop(channel, ActiveConsumerLoop.declare(lab, channel, "alone"));
    return new Sides(Timed.of(() -> mutex.tryAcquire().orElseThrow().close()), Timed.of(raw::run));
  }
}
