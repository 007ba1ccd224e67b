package io.amqplocks.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The rows of one path.
 *
 * @param path what to measure
 */
record PathRows(Path path) implements RowSource {

  @Override
  public String name() {
    return path.name();
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    Sides sides = path.open(lab);
    List<Timed> turns = new ArrayList<>(List.of(sides.ours(), sides.floor()));
    if (sides.steps() != null) {
      turns.add(sides.steps());
    }
    List<Samples> samples = Turns.take(lab.time(), turns);
    Samples ours = samples.get(0);
    String remark = "%s; p99 %.1f ms".formatted(path.floor(), ours.percentile(99) / 1e6);
    rows.accept(Row.time(path.name(), ours, samples.get(1), path.goal(), remark));
    if (samples.size() > 2) {
      rows.accept(
          Row.time("  to all of its own steps", ours, samples.get(2), Goal.NONE, "what we add"));
    }
  }
}
