package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;

/**
 * A mutex with a fencing token in each lease. Its floor is all of its own steps. It has no goal:
 * the goal for fenced mutexes is for a quorum queue that is the lock itself, see {@link
 * QuorumMutexPath}. The module's README says what a floor and a goal are.
 *
 * @param persistent whether the mutex is a persistent one
 */
record FencedPath(boolean persistent) implements CorePath {

  @Override
  public String name() {
    return persistent ? "fenced persistent mutex, alone" : "fenced mutex, alone";
  }

  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "consume + delivery + get, return + requeue, delivery + cancel + requeue";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks locks = lab.locks();
    if (persistent) {
      lab.persistentMutex(locks, "fenced");
    }
    AmqpLock mutex =
        (persistent ? locks.persistentMutex("fenced") : locks.mutex("fenced")).fenced();
    lab.fence(mutex.id(), 1);
    Raw drawer = new Raw(lab.channel());
    String counter = lab.leaving(lab.prefix() + "floor.counter");
    drawer.declareToken(counter, "quorum");
    return new Sides(
        Timed.of(() -> mutex.tryAcquire().orElseThrow().close()), steps(lab, drawer, counter));
  }

  /** The message is requeued and comes back: that is the check after the draw. */
  private static Timed steps(Lab lab, Raw drawer, String counter) throws Exception {
    Channel channel = lab.channel();
    ActiveConsumerLoop consumer =
        new ActiveConsumerLoop(channel, ActiveConsumerLoop.declare(lab, channel, "fenced"));
    return Timed.of(
        () -> {
          String tag = consumer.consume();
          long message = consumer.receive();
          drawer.getAndReturn(counter);
          channel.basicNack(message, false, true);
          consumer.release(tag, consumer.receive());
        });
  }
}
