package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockId;

/**
 * Fenced mutexes of keys that were never used before. They share counters (ADR 64), so each costs a
 * draw, and not the creation of a counter. {@link NewMutexPath} is the same without a token.
 */
record KeyedFencePath() implements CorePath {

  /** So many that nearly all counters exist. */
  private static final int WARM = 64;

  @Override
  public String name() {
    return "fenced mutex, a new key each time";
  }

  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "exclusive declare + get, return + delete";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks locks = lab.locks();
    var unused = lab.keyedFences(LockId.mutex("order"));
    int[] last = new int[1];
    Timed ours =
        Timed.of(
            () -> locks.mutex("order:" + last[0]++).fenced().tryAcquire().orElseThrow().close());
    for (int i = 0; i < WARM; i++) {
      long unusedTime = ours.nanos();
    }
    Raw raw = new Raw(lab.channel());
    Raw drawer = new Raw(lab.channel());
    String queue = lab.prefix() + "floor.keyed";
    String counter = lab.leaving(lab.prefix() + "floor.counter");
    drawer.declareToken(counter, "quorum");
    return new Sides(
        ours,
        Timed.of(
            () -> {
              raw.declareExclusive(queue);
              drawer.getAndReturn(counter);
              raw.delete(queue);
            }));
  }
}
