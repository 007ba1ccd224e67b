package io.amqplocks.benchmarks;

import io.amqplocks.lock.AmqpLock;

/** A fenced mutex, which is the token of a quorum queue, that nobody else wants. */
record QuorumMutexPath() implements CorePath {

  @Override
  public String name() {
    return "fenced mutex (quorum token), alone";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.2);
  }

  @Override
  public String floor() {
    return "get + return on a quorum queue";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLock mutex = lab.locks().fencedMutex("alone");
    lab.tokens(admin -> admin.fencedMutex("alone"), "fenced-mutex.alone");
    Raw raw = new Raw(lab.channel());
    String queue = lab.leaving(lab.prefix() + "floor.quorum-mutex");
    raw.declareToken(queue, "quorum");
    return new Sides(
        Timed.of(() -> mutex.tryAcquire().orElseThrow().close()),
        Timed.of(() -> raw.getAndReturn(queue)));
  }
}
