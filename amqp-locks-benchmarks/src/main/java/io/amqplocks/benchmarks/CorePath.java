package io.amqplocks.benchmarks;

/** An operation of the library with its floor: a row of the table, and a benchmark for JMH. */
interface CorePath {

  /** As the table and {@code --only} call it. */
  String name();

  Goal goal();

  /** What the floor is, and what the steps are, if there are any. */
  String floor();

  /** Makes both sides ready. What it opens, the lab closes. */
  Sides open(Lab lab) throws Exception;
}
