package io.amqplocks.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One mutex, 4 processes of 4 threads each: does each process get its share, and who waits longest?
 */
record Fairness() implements RowSource {

  private static final int PROCESSES = 4;
  private static final int THREADS = 4;

  @Override
  public String name() {
    return "fairness, 4 processes × 4 threads";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) {
    Duration time = Duration.ofSeconds(lab.quick() ? 6 : 20);
    List<Contender> contenders = Contender.start(lab, "fair", PROCESSES, THREADS);
    List<Contention> outcomes = Contender.contend(contenders, time);
    double all = Math.max(1, Throughput.sum(outcomes));
    double least = outcomes.stream().mapToLong(Contention::acquires).min().orElseThrow() / all;
    String shares =
        outcomes.stream()
            .map(each -> Unit.SHARE.format(each.acquires() / all))
            .collect(Collectors.joining(", "));
    rows.accept(
        new Row(
            name() + ": least share",
            Unit.SHARE,
            least,
            1.0 / PROCESSES,
            Goal.atLeastTimes(0.5),
            "a fair share; of %.0f in %d s: %s".formatted(all, time.toSeconds(), shares)));
    long longest = outcomes.stream().mapToLong(Contention::longestWait).max().orElseThrow();
    rows.accept(
        new Row(
            "  longest wait",
            Unit.MICROS,
            longest / 1e3,
            Double.NaN,
            Goal.NONE,
            "of any of the %d threads".formatted(PROCESSES * THREADS)));
  }
}
