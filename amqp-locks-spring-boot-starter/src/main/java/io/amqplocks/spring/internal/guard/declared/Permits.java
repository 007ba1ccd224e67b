package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import java.math.BigInteger;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * How many slots a call wants at once.
 *
 * @param fixed the number, unless there is an expression
 * @param expression computes the number from the call; null if it is fixed
 */
public record Permits(int fixed, @Nullable CallExpression expression) {

  /** One slot, the default. */
  public static final Permits ONE = of(1);

  /**
   * A fixed number.
   *
   * @throws IllegalArgumentException if no lease can have so many
   */
  public static Permits of(int number) {
    if (!isPossible(number)) {
      throw new IllegalArgumentException(
          "permits must be 1 to %d, and not %d".formatted(AmqpLock.MAX_PERMITS, number));
    }
    return new Permits(number, null);
  }

  /** A number that the expression computes. */
  public static Permits of(CallExpression expression) {
    return new Permits(1, expression);
  }

  /**
   * The number for that call.
   *
   * @throws LockException.Invalid if the expression yields none
   */
  public int of(MethodInvocation call) {
    CallExpression computed = expression;
    if (computed == null) {
      return fixed;
    }
    Object value = computed.valueFor(call);
    long number = whole(value);
    if (!isPossible(number)) {
      throw computed.invalid(
          "is %s: it must be a whole number from 1 to %d".formatted(value, AmqpLock.MAX_PERMITS),
          null);
    }
    return (int) number;
  }

  /** Not any number: half a permit, cut off, would be none. 0 if it is not a whole one. */
  private static long whole(@Nullable Object value) {
    if (value instanceof Byte
        || value instanceof Short
        || value instanceof Integer
        || value instanceof Long) {
      return ((Number) value).longValue();
    }
    return value instanceof BigInteger big && big.bitLength() < Long.SIZE ? big.longValue() : 0;
  }

  private static boolean isPossible(long number) {
    return number >= 1 && number <= AmqpLock.MAX_PERMITS;
  }
}
