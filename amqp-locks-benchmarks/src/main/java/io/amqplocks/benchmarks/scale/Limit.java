package io.amqplocks.benchmarks.scale;

/**
 * How many of something a node carries, if it carries nothing else.
 *
 * @param what it is
 * @param byMemory until the memory alarm
 * @param byProcessor until half of its processors are in use
 * @param byProcesses until there are as many Erlang processes as the broker allows
 * @param byAtoms until there are as many atoms as it allows
 */
record Limit(String what, double byMemory, double byProcessor, double byProcesses, double byAtoms) {

  /** What comes first. */
  String first() {
    double least = Math.min(Math.min(byMemory, byProcessor), Math.min(byProcesses, byAtoms));
    if (Double.isInfinite(least)) {
      return "";
    }
    if (least == byMemory) {
      return "memory";
    }
    if (least == byProcessor) {
      return "processors";
    }
    return least == byProcesses ? "Erlang processes" : "atoms";
  }
}
