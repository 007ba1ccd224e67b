package io.amqplocks.benchmarks;

/** How much of the heap is in use, exactly enough to divide a difference by thousands. */
public final class Heap {

  private Heap() {}

  /** Bytes in use after collecting all that is garbage. */
  public static long used() {
    Runtime runtime = Runtime.getRuntime();
    long least = Long.MAX_VALUE;
    // What is reachable only by way of a reference object goes a round later.
    for (int i = 0; i < 4; i++) {
      System.gc();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
