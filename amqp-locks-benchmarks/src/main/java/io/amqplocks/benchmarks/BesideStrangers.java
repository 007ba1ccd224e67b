package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * Which part of the holds a waiter of ours gets beside a {@link Stranger}, and which part a second
 * stranger gets in its place, in turns. Before ADR 66 it was a hundredth.
 */
record BesideStrangers() implements RowSource {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int TURNS = 2;
  private static final String NAME = "m";

  @Override
  public String name() {
    return "share of holds beside a stranger";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    AmqpLocks locks = lab.locks();
    QueueNames names = new QueueNames(lab.prefix());
    LockName name = LockName.of(NAME);
    AmqpLock mutex = locks.exclusiveQueueMutex(NAME);
    rows.accept(row(lab, "exclusive-queue mutex", mutex, names.exclusiveQueueMutex(name)));
    lab.semaphore(locks, NAME, 1);
    AmqpLock slot = locks.slotSemaphore(NAME);
    rows.accept(row(lab, "slot semaphore of 1", slot, names.holder(name, 1)));
  }

  private Row row(Lab lab, String kind, AmqpLock lock, String queue) throws Exception {
    Callable<AutoCloseable> ours = () -> Stranger.holding(lock.acquire(PATIENCE));
    Stranger first = new Stranger(lab, queue);
    Stranger second = new Stranger(lab, queue);
    // A waiter looks by itself after a second, and then more often.
    Duration slice = Duration.ofSeconds(lab.quick() ? 3 : 5);
    Holds beside = new Holds(0, 0);
    Holds among = new Holds(0, 0);
    for (int turn = 0; turn < TURNS; turn++) {
      beside = beside.and(Contention.each(List.of(ours, first), slice));
      among = among.and(Contention.each(List.of(second, first), slice));
    }
    return new Row(
        name() + ", " + kind,
        Unit.SHARE,
        beside.share(),
        among.share(),
        Goal.NONE,
        "a second stranger in our place; ours %d of %d".formatted(beside.one(), beside.both()));
  }

  /**
   * How often it was held.
   *
   * @param one by the one that is looked at
   * @param both by it and the stranger
   */
  private record Holds(long one, long both) {

    Holds and(List<Contention> more) {
      return new Holds(one + more.get(0).acquires(), both + Throughput.sum(more));
    }

    double share() {
      return (double) one / both;
    }
  }
}
