package io.amqplocks.prover.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Leaves out of a plan what its violation does not need, step by step. A step is accepted only if
 * the promise is violated again with what is left. Rounds depend on the machine, so each step has
 * several tries, and what is left in the end need not be the least.
 */
final class Shrinker {

  /** How often a step is tried before it is given up. */
  static final int TRIES = 3;

  private static final int SHORTEST_MILLIS = 1_000;

  /** A round. */
  @FunctionalInterface
  interface Violated {
    /** Whether a round with what is left violates the promise. */
    boolean isViolated(Less left) throws java.io.IOException, InterruptedException;
  }

  private final Plan whole;
  private final BooleanSupplier hasTime;
  private final Violated violated;

  /**
   * For a plan.
   *
   * @param hasTime whether another round may begin
   */
  Shrinker(Plan whole, BooleanSupplier hasTime, Violated violated) {
    this.whole = whole;
    this.hasTime = hasTime;
    this.violated = violated;
  }

  /**
   * Returns the least that was violated.
   *
   * @param begin what is known to be violated
   * @param lock the name of the lock whose promise is broken
   */
  Less shrink(Less begin, String lock) throws java.io.IOException, InterruptedException {
    Less result = begin;
    boolean isLess = true;
    while (isLess) {
      isLess = false;
      for (Less step : steps(result, lock)) {
        if (isViolated(step)) {
          result = step;
          isLess = true;
          break;
        }
      }
    }
    return result;
  }

  private boolean isViolated(Less step) throws java.io.IOException, InterruptedException {
    for (int i = 0; i < TRIES && hasTime.getAsBoolean(); i++) {
      if (violated.isViolated(step)) {
        return true;
      }
    }
    return false;
  }

  /** Each leaves less of the plan than before, so there is an end. What is likely comes first. */
  private List<Less> steps(Less now, String lock) {
    Plan plan = now.of(whole);
    List<Less> result = new ArrayList<>();
    result.add(now.withLocks(List.of(lock)));
    List<Integer> harms =
        now.harms() != null
            ? now.harms()
            : IntStream.rangeClosed(1, whole.harms().size()).boxed().toList();
    harms.forEach(each -> result.add(now.withHarms(List.of(each))));
    for (Integer each : harms) {
      result.add(now.withHarms(harms.stream().filter(other -> !other.equals(each)).toList()));
    }
    result.add(now.withSteadySlots());
    result.add(now.withClients(2));
    result.add(now.withThreads(1));
    result.add(now.withThreads(2));
    int millis = Math.toIntExact(plan.length().toMillis());
    result.add(now.withMillis(Math.max(SHORTEST_MILLIS, millis / 2)));
    result.add(now.withMillis(Math.max(SHORTEST_MILLIS, millis * 3 / 4)));
    // Seldom violated, and found out by as many rounds as a step has tries.
    result.add(now.withHarms(List.of()));
    return result.stream().filter(step -> isLess(step.of(whole), plan)).distinct().toList();
  }

  private static boolean isLess(Plan one, Plan other) {
    return size(one) < size(other);
  }

  private static long size(Plan plan) {
    return plan.length().toMillis()
        + plan.locks().size()
        + plan.work().size()
        + plan.clients()
        + plan.harms().size()
        + plan.resizes().size();
  }
}
