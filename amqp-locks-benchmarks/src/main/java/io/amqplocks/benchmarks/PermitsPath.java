package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import java.util.Locale;

/**
 * Three of five tokens as one lease, which nobody else wants. The floor is three messages, one
 * after the other, with nothing that makes one lease of them.
 *
 * @param type of the queue
 */
record PermitsPath(TokenQueueType type) implements CorePath {

  private static final int PERMITS = 3;
  private static final int SLOTS = 5;

  @Override
  public String name() {
    return "3 of 5 tokens, " + kind() + " queue";
  }

  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "3 × (get + return)";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    String name = "permits-" + kind();
    lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
    AmqpLocks locks = lab.locks();
    locks.admin().tokenSemaphore(name).create(SLOTS, type);
    AmqpLock semaphore = locks.tokenSemaphore(name).withPermits(PERMITS);
    Raw raw = new Raw(lab.channel());
    String queue = lab.leaving(lab.prefix() + "floor." + name);
    raw.declareToken(queue, kind());
    return new Sides(
        Timed.of(() -> semaphore.tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              for (int i = 0; i < PERMITS; i++) {
                raw.getAndReturn(queue);
              }
            }));
  }

  private String kind() {
    return type.name().toLowerCase(Locale.ROOT);
  }
}
