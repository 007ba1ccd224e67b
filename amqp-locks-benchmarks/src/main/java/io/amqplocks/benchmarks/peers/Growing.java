package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * Measures an operation at one size after the other. At each size, the kinds take turns. Who takes
 * too long for a size is given up, and does not take part in the larger ones.
 */
final class Growing {

  /** What one kind does. */
  interface Subject extends AutoCloseable {

    /** Lets there be so many; returns what one costs the server, if that is seen already now. */
    OptionalDouble grow(int size, TimeLimit limit) throws Exception;

    /** Some operations, in microseconds. */
    List<Double> probe(int size, TimeLimit limit) throws Exception;

    /** What an operation costs the server, if that is seen only after all of them. */
    default OptionalDouble cost() {
      return OptionalDouble.empty();
    }
  }

  private final Growth growth;
  private final Duration limit;
  private final LongSupplier nanos;
  private final BiConsumer<Kind, Exception> failures;
  private final List<Grown> results = new ArrayList<>();

  /**
   * For one growth.
   *
   * @param limit of each kind, at each size
   * @param nanos the clock
   * @param failures is told what went wrong
   */
  Growing(Growth growth, Duration limit, LongSupplier nanos, BiConsumer<Kind, Exception> failures) {
    this.growth = growth;
    this.limit = limit;
    this.nanos = nanos;
    this.failures = failures;
  }

  /**
   * Measures these, and closes them.
   *
   * @param warmUps rounds that do not count, at the first size: later, all are as warm as then
   * @param rounds that count, at each size
   */
  List<Grown> measure(Map<Kind, Subject> subjects, List<Integer> sizes, int warmUps, int rounds) {
    List<Kind> left = new ArrayList<>(subjects.keySet());
    for (int size : sizes) {
      left.removeIf(kind -> !growth.fits(kind, size));
      measure(subjects, left, size, size == sizes.get(0) ? warmUps : 0, rounds);
    }
    subjects.forEach(
        (kind, subject) -> {
          try {
            subject.close();
          } catch (Exception e) {
            failures.accept(kind, e);
          }
        });
    return results;
  }

  private void measure(
      Map<Kind, Subject> subjects, List<Kind> left, int size, int warmUps, int rounds) {
    Map<Kind, TimeLimit> limits = new EnumMap<>(Kind.class);
    Map<Kind, List<Double>> micros = new EnumMap<>(Kind.class);
    Map<Kind, OptionalDouble> costs = new EnumMap<>(Kind.class);
    List<Kind> turns = new ArrayList<>(left);
    int first = -warmUps - 1;
    for (int round = first; round < rounds; round++) {
      for (Kind kind : List.copyOf(turns)) {
        Subject subject = Objects.requireNonNull(subjects.get(kind));
        TimeLimit time = limits.computeIfAbsent(kind, none -> new TimeLimit(limit, nanos));
        List<Double> values = micros.computeIfAbsent(kind, none -> new ArrayList<>());
        try {
          if (round == first) {
            costs.put(kind, time.turn(() -> subject.grow(size, time)));
          } else {
            List<Double> probed = time.turn(() -> subject.probe(size, time));
            values.addAll(round < 0 ? List.of() : probed);
          }
        } catch (TimeLimit.OverException over) {
          turns.remove(kind);
          left.remove(kind);
          results.add(new Grown(growth, kind, size, List.of(), null, limit.toSeconds()));
        } catch (Exception e) {
          turns.remove(kind);
          left.remove(kind);
          failures.accept(kind, e);
        }
      }
      Collections.rotate(turns, -1);
    }
    for (Kind kind : left) {
      OptionalDouble cost = Objects.requireNonNull(costs.get(kind));
      if (cost.isEmpty()) {
        cost = Objects.requireNonNull(subjects.get(kind)).cost();
      }
      Double server = cost.isPresent() ? Double.valueOf(cost.getAsDouble()) : null;
      List<Double> values = Objects.requireNonNull(micros.get(kind));
      results.add(new Grown(growth, kind, size, values, server, null));
    }
  }
}
