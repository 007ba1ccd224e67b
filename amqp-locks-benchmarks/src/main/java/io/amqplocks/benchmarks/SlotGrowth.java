package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;

/** A semaphore of 1,000 free slots beside one of a single slot. */
record SlotGrowth() implements CorePath {

  private static final int MANY = 1_000;

  @Override
  public String name() {
    return "growth, 1 to 1,000 slots";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.5);
  }

  @Override
  public String floor() {
    return "ours with 1 slot";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks locks = lab.locks();
    lab.semaphore(locks, "one", 1);
    lab.semaphore(locks, "many", MANY);
    AmqpLock one = locks.slotSemaphore("one");
    AmqpLock many = locks.slotSemaphore("many");
    return new Sides(
        Timed.of(() -> many.tryAcquire().orElseThrow().close()),
        Timed.of(() -> one.tryAcquire().orElseThrow().close()),
        SemaphorePath.allSteps(lab, "many", MANY));
  }
}
