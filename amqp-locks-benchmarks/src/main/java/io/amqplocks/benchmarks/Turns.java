package io.amqplocks.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Several ways to do the same, taking turns, so that noise meets all of them alike. */
final class Turns {

  /** Fewer prove nothing, however slow they are. */
  private static final int LEAST = 5;

  private Turns() {}

  /**
   * Lets them take turns for that long; a fifth of it is for warming up and not counted. Who begins
   * changes with each round.
   */
  static List<Samples> take(Duration time, List<Timed> sides) throws Exception {
    rounds(time.dividedBy(5), sides, 2);
    return rounds(time, sides, LEAST);
  }

  private static List<Samples> rounds(Duration time, List<Timed> sides, int least)
      throws Exception {
    List<Samples> samples = new ArrayList<>();
    sides.forEach(side -> samples.add(new Samples()));
    long end = System.nanoTime() + time.toNanos();
    for (int round = 0; round < least || end - System.nanoTime() > 0; round++) {
      for (int i = 0; i < sides.size(); i++) {
        int turn = (round + i) % sides.size();
        samples.get(turn).add(sides.get(turn).nanos());
      }
    }
    return samples;
  }
}
