package io.amqplocks.benchmarks;

/** One turn of one side: does what is measured, and what must be made ready for it untimed. */
@FunctionalInterface
interface Timed {

  /** Does it once; how long it took, in nanoseconds. */
  long nanos() throws Exception;

  /** What is timed as a whole. */
  @FunctionalInterface
  interface Step {
    void run() throws Exception;
  }

  /** Times all of it. */
  static Timed of(Step step) {
    return () -> {
      long start = System.nanoTime();
      step.run();
      return System.nanoTime() - start;
    };
  }
}
