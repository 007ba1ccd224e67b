package io.amqplocks.benchmarks;

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
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "passive declare + exclusive consume + cancel";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks locks = lab.locks();
    lab.persistentMutex(locks, "alone");
    AmqpLock mutex = locks.persistentMutex("alone");
    Raw raw = new Raw(lab.channel());
    String queue = lab.durable(raw.channel(), "alone");
    return new Sides(
        Timed.of(() -> mutex.tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              raw.consumers(queue);
              raw.cancel(raw.consumeExclusively(queue));
            }));
  }
}
