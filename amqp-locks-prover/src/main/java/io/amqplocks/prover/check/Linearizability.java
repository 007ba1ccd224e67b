package io.amqplocks.prover.check;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Searches for an order in which operations could have taken effect one after the other, each
 * between its call and its return (Wing and Gong). States that were seen with the same operations
 * done are not searched again (Lowe).
 *
 * <p>An operation that never returned may have taken effect at any time after its call, or never.
 *
 * @param <S> a state of the object; compared by {@code equals}
 * @param <O> what an operation does
 */
public final class Linearizability<S, O> {

  /** What the object is meant to do. */
  @FunctionalInterface
  public interface Model<S, O> {
    /** The state after that operation; empty if it could not have had its result in this state. */
    Optional<S> apply(S state, O operation);
  }

  /**
   * One operation.
   *
   * @param what what it does, with its result
   * @param called when it was called
   * @param returned when it returned; {@code Long.MAX_VALUE} if it never did
   */
  public record Operation<O>(O what, long called, long returned) {}

  /** The outcome of a search. */
  public enum Result {
    /** There is such an order. */
    YES,
    /** There is none. */
    NO,
    /** The search was given up. This says nothing, and counts as unknown. */
    UNKNOWN
  }

  private record Seen<S>(BitSet done, S state) {}

  private final Model<S, O> model;
  private final List<Operation<O>> operations;
  private final Set<Seen<S>> seen = new HashSet<>();
  private int steps;

  private Linearizability(Model<S, O> model, List<Operation<O>> operations, int steps) {
    this.model = model;
    this.operations = operations;
    this.steps = steps;
  }

  /**
   * Searches.
   *
   * @param steps after how many steps the search is given up
   */
  public static <S, O> Result check(
      Model<S, O> model, S first, List<Operation<O>> operations, int steps) {
    List<Operation<O>> byCall = new ArrayList<>(operations);
    byCall.sort(java.util.Comparator.comparingLong(Operation::called));
    return new Linearizability<>(model, byCall, steps).search(first);
  }

  /** A place in the search: what is done, the state after it, and which operation to try next. */
  private static final class Frame<S> {
    final BitSet done;
    final S state;
    int next;

    Frame(BitSet done, S state, int next) {
      this.done = done;
      this.state = state;
      this.next = next;
    }
  }

  /** Depth first, on a stack of its own, since histories are longer than a thread's stack. */
  private Result search(S first) {
    List<Frame<S>> stack = new ArrayList<>();
    stack.add(new Frame<>(new BitSet(), first, 0));
    while (!stack.isEmpty()) {
      Frame<S> frame = stack.get(stack.size() - 1);
      if (isComplete(frame.done)) {
        return Result.YES;
      }
      if (steps-- <= 0) {
        return Result.UNKNOWN;
      }
      int candidate = nextCandidate(frame);
      if (candidate < 0) {
        stack.remove(stack.size() - 1);
        continue;
      }
      frame.next = candidate + 1;
      Optional<S> after = model.apply(frame.state, operations.get(candidate).what());
      if (after.isPresent()) {
        BitSet done = (BitSet) frame.done.clone();
        done.set(candidate);
        if (seen.add(new Seen<>(done, after.get()))) {
          stack.add(new Frame<>(done, after.get(), done.nextClearBit(0)));
        }
      }
    }
    return Result.NO;
  }

  private boolean isComplete(BitSet done) {
    for (int i = done.nextClearBit(0); i < operations.size(); i = done.nextClearBit(i + 1)) {
      if (operations.get(i).returned() != Long.MAX_VALUE) {
        return false;
      }
    }
    return true;
  }

  /**
   * The next operation that may be the first of those left: none of the others returned before it
   * was called.
   */
  private int nextCandidate(Frame<S> frame) {
    long firstReturn = Long.MAX_VALUE;
    for (int i = frame.done.nextClearBit(0);
        i < operations.size() && operations.get(i).called() <= firstReturn;
        i = frame.done.nextClearBit(i + 1)) {
      if (i >= frame.next) {
        return i;
      }
      firstReturn = Math.min(firstReturn, operations.get(i).returned());
    }
    return -1;
  }
}
