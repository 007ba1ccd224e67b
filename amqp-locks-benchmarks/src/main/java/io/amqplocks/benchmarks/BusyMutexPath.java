package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.lock.AmqpLock;

/** The answer "busy" of the default mutex to a client that asks again and again. */
record BusyMutexPath() implements CorePath {

  @Override
  public String name() {
    return "busy answer, mutex";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.4);
  }

  @Override
  public String floor() {
    return "passive declare";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    var unused = lab.locks().mutex("busy").tryAcquire().orElseThrow();
    AmqpLock mutex = lab.locks().mutex("busy");
    Channel channel = lab.channel();
    String queue = ActiveConsumerLoop.declare(lab, channel, "busy");
    return new Sides(
        Timed.of(
            () -> {
              if (mutex.tryAcquire().isPresent()) {
                throw new IllegalStateException("A mutex was had that another client holds");
              }
            }),
        Timed.of(() -> channel.queueDeclarePassive(queue)));
  }
}
