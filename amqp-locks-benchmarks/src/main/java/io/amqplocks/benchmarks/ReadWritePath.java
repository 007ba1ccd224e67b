package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;

/**
 * One side of a read-write lock that nobody else wants, and that was used a moment before.
 *
 * @param writing whether it is the writers' side
 */
record ReadWritePath(boolean writing) implements CorePath {

  @Override
  public String name() {
    return (writing ? "write" : "read") + " lock, alone";
  }

  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return (writing ? "exclusive " : "") + "consume + cancel";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpReadWriteLock both = lab.locks().readWriteLock("alone");
    AmqpLock lock = writing ? both.writeLock() : both.readLock();
    Channel channel = lab.channel();
    Raw raw = new Raw(channel);
    String queue = lab.durable(channel, "alone");
    String gate = ActiveConsumerLoop.declare(lab, channel, "gate");
    ActiveConsumerLoop passing = new ActiveConsumerLoop(channel, gate);
    return new Sides(
        Timed.of(() -> lock.tryAcquire().orElseThrow().close()),
        Timed.of(() -> raw.cancel(consume(raw, queue))),
        Timed.of(
            () -> {
              if (writing) {
                raw.consumers(queue);
                raw.cancel(consume(raw, queue));
                passing.run();
              } else {
                raw.consumers(gate);
                raw.cancel(consume(raw, queue));
              }
            }));
  }

  private String consume(Raw raw, String queue) throws Exception {
    return writing ? raw.consumeExclusively(queue) : raw.consume(queue);
  }
}
