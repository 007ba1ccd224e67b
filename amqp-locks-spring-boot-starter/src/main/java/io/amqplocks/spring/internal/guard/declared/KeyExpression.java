package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.lock.LockException;
import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;

/**
 * The expression that computes a lock's key from a call.
 *
 * @param expression the expression
 */
public record KeyExpression(CallExpression expression) {

  /**
   * Reads it, as {@link CallExpression#parse} says.
   *
   * @throws IllegalArgumentException if it cannot be read or speaks of a parameter that is not
   *     there
   */
  public static KeyExpression parse(
      String text, Method method, String where, @Nullable BeanResolver beans) {
    return new KeyExpression(CallExpression.parse("key", text, method, where, beans));
  }

  /**
   * The key that the call has.
   *
   * @throws LockException.Invalid if it has none
   */
  public String of(MethodInvocation call) {
    String text;
    try {
      text = KeyText.of(expression.valueFor(call));
    } catch (IllegalArgumentException e) {
      throw expression.invalid(String.valueOf(e.getMessage()), null);
    }
    if (text.isBlank()) {
      throw expression.invalid(
          "is blank: take a lock only where there is a key, or choose another one", null);
    }
    return text;
  }

  @Override
  public String toString() {
    return expression.toString();
  }
}
