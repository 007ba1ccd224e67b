package io.amqplocks.spring.internal.guard;

import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * How many slots a call wants at once.
 *
 * @param fixed the number, unless there is an expression
 * @param expression computes the number from the call; null if it is fixed
 */
record Permits(int fixed, @Nullable CallExpression expression) {

  /** One slot, as most calls want it. */
  static final Permits ONE = of(1);

  /**
   * That many.
   *
   * @throws IllegalArgumentException if no semaphore can have so many
   */
  static Permits of(int number) {
    if (!isPossible(number)) {
      throw new IllegalArgumentException(
          "permits must be 1 to %d, and not %d".formatted(SlotSemaphoreAdmin.MAX_SLOTS, number));
    }
    return new Permits(number, null);
  }

  /** As many as the expression says. */
  static Permits of(CallExpression expression) {
    return new Permits(1, expression);
  }

  /**
   * The number for that call.
   *
   * @throws LockException.Invalid if the expression yields none
   */
  int of(MethodInvocation call) {
    CallExpression computed = expression;
    if (computed == null) {
      return fixed;
    }
    Object value = computed.valueFor(call);
    // Not any number: half a permit, cut off, would be none.
    if (value instanceof Integer || value instanceof Long) {
      long number = ((Number) value).longValue();
      if (isPossible(number)) {
        return (int) number;
      }
    }
    throw computed.invalid(
        "is %s: it must be a whole number from 1 to %d"
            .formatted(value, SlotSemaphoreAdmin.MAX_SLOTS),
        null);
  }

  private static boolean isPossible(long number) {
    return number >= 1 && number <= SlotSemaphoreAdmin.MAX_SLOTS;
  }
}
