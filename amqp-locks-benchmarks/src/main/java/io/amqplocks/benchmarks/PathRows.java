package io.amqplocks.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * The rows of one path.
 *
 * @param path what to measure
 */
record PathRows(CorePath path) implements RowSource {

  @Override
  public String name() {
    return path.name();
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    Sides sides = path.open(lab);
    List<Timed> turns = new ArrayList<>(List.of(sides.floor()));
    for (Timed more : new Timed[] {sides.ours(), sides.steps()}) {
      if (more != null) {
        turns.add(more);
      }
    }
    List<Samples> samples = Turns.take(lab.time(), turns);
    Samples floor = samples.get(0);
    Samples ours = sides.ours() == null ? new Samples() : samples.get(1);
    String p99 = String.format(Locale.ROOT, "; p99 %.1f ms", ours.percentile(99) / 1e6);
    String remark = path.floor() + (ours.count() == 0 ? "" : p99);
    rows.accept(Row.time(path.name(), ours, floor, path.goal(), remark));
    if (sides.steps() != null) {
      rows.accept(
          Row.time("  to all of its own steps", ours, samples.get(2), Goal.NONE, "what we add"));
    }
  }
}
