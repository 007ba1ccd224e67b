package io.amqplocks.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Collects what is measured. For one thread. */
final class Findings {

  private final List<Growth> growths = new ArrayList<>();
  private final List<Cost> costs = new ArrayList<>();
  private final List<Return> returns = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  void add(Growth growth) {
    growths.add(growth);
  }

  void add(Cost cost) {
    costs.add(cost);
  }

  void add(Return back) {
    returns.add(back);
  }

  /** This went wrong: a result too, of which the others are independent. */
  void fail(String what, Exception why) {
    Throwable cause =
        why instanceof ExecutionException && why.getCause() != null ? why.getCause() : why;
    String failure = what + ": " + cause;
    System.err.println(failure);
    failures.add(failure);
  }

  List<Growth> growths() {
    return growths;
  }

  List<Cost> costs() {
    return costs;
  }

  List<Return> returns() {
    return returns;
  }

  List<String> failures() {
    return failures;
  }
}
