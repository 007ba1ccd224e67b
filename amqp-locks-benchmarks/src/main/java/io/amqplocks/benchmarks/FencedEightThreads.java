package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Fenced mutexes, eight threads in one process, in slices that take turns with the unfenced mutex.
 * What the broker counts is a small part of it, so the goal is 0.7 times the unfenced one.
 */
record FencedEightThreads() implements RowSource {

  private static final int THREADS = 8;
  private static final Duration SLICE = Duration.ofMillis(500);

  @Override
  public String name() {
    return "fenced, 8 threads in one process";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    AmqpLocks locks = lab.locks();
    List<AmqpLock> all =
        List.of(
            locks.mutex("unfenced-eight"),
            locks.fencedMutex("fenced-eight"),
            locks.mutex("fenced-eight").fenced());
    lab.tokens(admin -> admin.fencedMutex("fenced-eight"), "fenced-mutex.fenced-eight");
    lab.fence(LockId.mutex("fenced-eight"), 1);
    List<Samples> perSecond = new ArrayList<>();
    all.forEach(lock -> perSecond.add(new Samples()));
    int slices = Math.toIntExact(lab.time().dividedBy(SLICE.multipliedBy(2))) + 1;
    for (int slice = 0; slice < slices; slice++) {
      for (int i = 0; i < all.size(); i++) {
        long acquires = Contention.of(all.get(i), THREADS, SLICE).acquires();
        // The first one is for warming up.
        if (slice > 0) {
          perSecond.get(i).add(acquires * 1e9 / SLICE.toNanos());
        }
      }
    }
    row(rows, name() + ", quorum token", perSecond.get(1), perSecond.get(0));
    row(rows, name() + ", mutex and counter", perSecond.get(2), perSecond.get(0));
  }

  private static void row(Consumer<Row> rows, String name, Samples ours, Samples unfenced) {
    rows.accept(
        new Row(
            name,
            Unit.PER_SECOND,
            ours.median(),
            unfenced.median(),
            Goal.atLeastTimes(0.7),
            "to the same threads on an unfenced mutex"));
  }
}
