package io.amqplocks.sample.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A scene as lines of a terminal: a line for each slot, and one that says who waits. */
final class SlotPicture {

  private static final long MILLIS_OF_A_STEP = 50;
  private static final int LONGEST = 30;

  /** None is red, which would look like an error. */
  private static final List<Integer> COLOURS = List.of(34, 33, 32, 35, 36);

  private final boolean coloured;

  /**
   * How to draw.
   *
   * @param coloured whether each worker has its colour
   */
  SlotPicture(boolean coloured) {
    this.coloured = coloured;
  }

  /** The lines. */
  List<String> of(Scene scene) {
    List<String> lines = new ArrayList<>();
    scene.lanes().forEach(lane -> lines.add(line(lane)));
    lines.add(
        "waiting: "
            + scene.workers().stream()
                .filter(worker -> worker.waiting() != null)
                .map(worker -> worker.waiting() + " in worker " + worker.number())
                .collect(Collectors.joining(", ")));
    return lines;
  }

  private String line(Scene.Lane lane) {
    Integer worker = lane.worker();
    Long held = lane.held();
    if (worker == null || held == null) {
      return "slot %-2d  free".formatted(lane.slot());
    }
    String bar = "#".repeat((int) Math.min(LONGEST, 1 + held / MILLIS_OF_A_STEP));
    String line =
        String.format(
            Locale.ROOT,
            "slot %-2d  worker %-3d  %4.1f s  %s",
            lane.slot(),
            worker,
            held / 1000.0,
            colour(worker, bar));
    return lane.sure() == Scene.Sure.HELD ? line : line + " " + unsure(lane);
  }

  private static String unsure(Scene.Lane lane) {
    return lane.sure() == Scene.Sure.UNCERTAIN ? "(uncertain)" : "(not known)";
  }

  private String colour(int worker, String bar) {
    int colour = COLOURS.get((worker - 1) % COLOURS.size());
    return coloured ? "\u001b[%dm%s\u001b[0m".formatted(colour, bar) : bar;
  }
}
