package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;

/** Mutexes whose names were never used before. Their queues disappear a minute later. */
record NewMutexPath() implements CorePath {

  @Override
  public String name() {
    return "mutex, a new name each time";
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
    AmqpLocks locks = lab.locks();
    locks.mutex("warm").tryAcquire().orElseThrow().close();
    Raw raw = new Raw(lab.channel());
    String queue = lab.prefix() + "floor.new";
    int[] last = new int[1];
    return new Sides(
        Timed.of(() -> locks.mutex("new-" + last[0]++).tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              raw.declareExclusive(queue);
              raw.delete(queue);
            }));
  }
}
