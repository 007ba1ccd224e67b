package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import java.util.Locale;

/**
 * A token semaphore of one slot, that nobody else wants.
 *
 * @param type of the queue
 */
record TokenPath(TokenQueueType type) implements CorePath {

  @Override
  public String name() {
    return "token semaphore, " + kind() + " queue";
  }

  /** Quorum queues have a goal with the fenced mutex. */
  @Override
  public Goal goal() {
    return type == TokenQueueType.CLASSIC ? Goal.atMostTimes(1.1) : Goal.atMostTimes(1.2);
  }

  @Override
  public String floor() {
    return "get + return";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    String name = "token-" + kind();
    lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
    AmqpLocks locks = lab.locks();
    locks.admin().tokenSemaphore(name).create(1, type);
    AmqpLock semaphore = locks.tokenSemaphore(name);
    Raw raw = new Raw(lab.channel());
    String queue = lab.leaving(lab.prefix() + "floor." + name);
    raw.declareToken(queue, kind());
    return new Sides(
        Timed.of(() -> semaphore.tryAcquire().orElseThrow().close()),
        Timed.of(() -> raw.getAndReturn(queue)));
  }

  private String kind() {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
