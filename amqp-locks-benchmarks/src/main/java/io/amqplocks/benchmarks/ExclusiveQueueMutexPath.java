package io.amqplocks.benchmarks;

import io.amqplocks.lock.AmqpLock;

/** An exclusive-queue mutex that nobody else wants. */
record ExclusiveQueueMutexPath() implements CorePath {

  @Override
  public String name() {
    return "exclusive-queue mutex, alone";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.15);
  }

  @Override
  public String floor() {
    return "exclusive declare + delete";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLock mutex = lab.locks().exclusiveQueueMutex("alone");
    Raw raw = new Raw(lab.channel());
    String queue = lab.prefix() + "floor.alone";
    return new Sides(
        Timed.of(() -> mutex.tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              raw.declareExclusive(queue);
              raw.delete(queue);
            }),
        Timed.of(
            () -> {
              raw.declareExclusive(queue);
              raw.watch(queue);
              raw.delete(queue);
            }));
  }
}
