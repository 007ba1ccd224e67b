package io.amqplocks.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How often one mutex changes hands in a second, if many want it; in slices that take turns with
 * the bare client, which declares and deletes one exclusive queue over and over.
 */
final class Throughput {

  private static final Duration SLICE = Duration.ofMillis(500);

  private final Lab lab;
  private final Consumer<Row> rows;

  Throughput(Lab lab, Consumer<Row> rows) {
    this.lab = lab;
    this.rows = rows;
  }

  /**
   * Measures ours against the floor; ours answers how many it had in a slice.
   *
   * @param steps the same without a broker, in turns with the two; null if there is no such thing
   */
  void measure(String what, Goal goal, String remark, Slice ours, @Nullable Slice steps)
      throws Exception {
    Raw raw = new Raw(lab.channel());
    String queue = lab.prefix() + "floor.throughput";
    Callable<Long> floor = () -> declareAndDelete(raw, queue);
    Samples oursPerSecond = new Samples();
    Samples floorPerSecond = new Samples();
    Samples stepsPerSecond = new Samples();
    int slices = Math.toIntExact(lab.time().dividedBy(SLICE.multipliedBy(2))) + 1;
    for (int i = 0; i < slices; i++) {
      long had = ours.acquires(SLICE);
      long pairs = floor.call();
      long changes = steps == null ? 0 : steps.acquires(SLICE);
      // The first one is for warming up.
      if (i > 0) {
        oursPerSecond.add(perSecond(had));
        floorPerSecond.add(perSecond(pairs));
        stepsPerSecond.add(perSecond(changes));
      }
    }
    rows.accept(
        new Row(
            what, Unit.PER_SECOND, oursPerSecond.median(), floorPerSecond.median(), goal, remark));
    if (steps != null) {
      rows.accept(
          new Row(
              "  to a ReentrantLock",
              Unit.PER_SECOND,
              oursPerSecond.median(),
              stepsPerSecond.median(),
              Goal.NONE,
              "what the same threads do without any broker, in the same order"));
    }
  }

  /** One slice of ours. */
  @FunctionalInterface
  interface Slice {
    long acquires(Duration time) throws Exception;
  }

  static long sum(List<Contention> outcomes) {
    return outcomes.stream().mapToLong(Contention::acquires).sum();
  }

  private static double perSecond(long count) {
    return count * 1e9 / SLICE.toNanos();
  }

  private static long declareAndDelete(Raw raw, String queue) throws Exception {
    long pairs = 0;
    long end = System.nanoTime() + SLICE.toNanos();
    while (end - System.nanoTime() > 0) {
      raw.declareExclusive(queue);
      raw.delete(queue);
      pairs++;
    }
    return pairs;
  }
}
