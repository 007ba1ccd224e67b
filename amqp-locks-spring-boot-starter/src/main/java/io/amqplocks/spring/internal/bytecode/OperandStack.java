package io.amqplocks.spring.internal.bytecode;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.Label;

/**
 * What is on the operand stack of a method, in slots, as far as it matters: which of them are
 * {@code this}. Where branches meet, a slot is only if it is on all ways that were seen. Ways back,
 * as of loops, are not: compilers begin a loop with an empty stack.
 */
final class OperandStack {

  private final Map<Label, State> expected = new HashMap<>();
  private State now = new State(0, new BitSet());
  private boolean reachable = true;

  private record State(int depth, BitSet self) {}

  void push(int slots) {
    now = new State(now.depth + slots, now.self);
  }

  void pushThis() {
    now.self.set(now.depth);
    push(1);
  }

  void pop(int slots) {
    int depth = Math.max(0, now.depth - slots);
    now.self.clear(depth, now.depth + 1);
    now = new State(depth, now.self);
  }

  void duplicate() {
    if (isThis(1)) {
      pushThis();
    } else {
      push(1);
    }
  }

  /** Whether the slot is that many below the top; 1 is the top itself. */
  boolean isThis(int below) {
    return reachable && now.depth >= below && now.self.get(now.depth - below);
  }

  /** A branch leads there. */
  void jumpTo(Label target) {
    if (reachable) {
      expected.merge(target, copy(now), OperandStack::common);
    }
  }

  /** An exception leads there. */
  void handleAt(Label target) {
    expected.put(target, new State(1, new BitSet()));
  }

  /** Nothing leads to the next instruction but branches. */
  void end() {
    reachable = false;
  }

  void arriveAt(Label label) {
    State jumped = expected.get(label);
    now =
        reachable
            ? common(now, jumped)
            : jumped == null ? new State(0, new BitSet()) : copy(jumped);
    reachable = true;
  }

  private static State common(State one, @Nullable State other) {
    if (other == null) {
      return one;
    }
    BitSet self = (BitSet) one.self.clone();
    self.and(other.self);
    return new State(one.depth, self);
  }

  private static State copy(State state) {
    return new State(state.depth, (BitSet) state.self.clone());
  }
}
