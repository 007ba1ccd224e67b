package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The kinds take turns by slices of time, in several passes. One that fails drops out. */
final class Passes {

  /** The turn of one kind. */
  @FunctionalInterface
  interface Slice {

    /**
     * Measures it.
     *
     * @param isCounted false in the first pass, which is for warming up
     */
    void measure(Kind kind, boolean isCounted) throws Exception;
  }

  private Passes() {}

  static void measure(List<Kind> kinds, int passes, Recorder recorder, Slice slice) {
    List<Kind> turns = new ArrayList<>(kinds);
    for (int pass = 0; pass <= passes; pass++) {
      for (Kind kind : List.copyOf(turns)) {
        try {
          slice.measure(kind, pass > 0);
        } catch (Exception e) {
          recorder.fail(kind, e);
          turns.remove(kind);
        }
      }
      Collections.rotate(turns, -1);
    }
  }
}
