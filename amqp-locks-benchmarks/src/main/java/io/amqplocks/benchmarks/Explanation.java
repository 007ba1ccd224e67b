package io.amqplocks.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Where the time of an operation goes: what it asks of the broker, when that is sent, and when the
 * answer is here. Time between an answer and the next question is ours, all other the broker's and
 * the way's.
 */
final class Explanation {

  private static final int WARM_UP = 200;
  private static final int OPERATIONS = 300;

  private final Wire wire;

  Explanation(Wire wire) {
    this.wire = wire;
  }

  /** The operation's legs with the medians of their times, as it goes most of the time. */
  String of(Timed side) throws Exception {
    Map<List<String>, List<Samples>> ways = new HashMap<>();
    for (int i = -WARM_UP; i < OPERATIONS; i++) {
      var unused = wire.legs(0);
      long begun = System.nanoTime();
      long took = side.nanos();
      List<Wire.Leg> legs = wire.legs(begun);
      if (i >= 0) {
        note(ways, legs, took);
      }
    }
    return ways.entrySet().stream()
        .max((one, other) -> last(one).count() - last(other).count())
        .map(Explanation::text)
        .orElse("nothing");
  }

  private static void note(Map<List<String>, List<Samples>> ways, List<Wire.Leg> legs, long took) {
    List<String> labels = legs.stream().map(Wire.Leg::label).toList();
    List<Samples> times =
        ways.computeIfAbsent(
            labels,
            key -> {
              List<Samples> fresh = new ArrayList<>();
              for (int i = 0; i <= key.size(); i++) {
                fresh.add(new Samples());
              }
              return fresh;
            });
    for (int i = 0; i < legs.size(); i++) {
      times.get(i).add(legs.get(i).nanos());
    }
    times.get(legs.size()).add(took);
  }

  private static Samples last(Map.Entry<List<String>, List<Samples>> way) {
    return way.getValue().get(way.getValue().size() - 1);
  }

  private static String text(Map.Entry<List<String>, List<Samples>> way) {
    StringBuilder text = new StringBuilder();
    List<String> labels = way.getKey();
    for (int i = 0; i <= labels.size(); i++) {
      String label =
          i < labels.size()
              ? labels.get(i)
              : "done (%d of %d went so)".formatted(last(way).count(), OPERATIONS);
      double micros = way.getValue().get(i).median() / 1e3;
      text.append(String.format(Locale.ROOT, "  %,8.0f µs  %s%n", micros, label));
    }
    return text.toString();
  }
}
