package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parameters of a guarded method that are not for its caller to fill: the lease, or its token.
 *
 * @param token where the token goes, or -1
 * @param lease where the lease goes, or -1
 */
record Injection(int token, int lease) {

  private static final Injection NONE = new Injection(-1, -1);

  /**
   * What the method wants.
   *
   * @throws IllegalArgumentException if it wants one twice
   */
  static Injection of(Method method) {
    int token = only(method, FencingToken.class);
    int lease = only(method, Lease.class);
    return token < 0 && lease < 0 ? NONE : new Injection(token, lease);
  }

  private static int only(Method method, Class<?> type) {
    List<Class<?>> types = List.of(method.getParameterTypes());
    int first = types.indexOf(type);
    if (first != types.lastIndexOf(type)) {
      throw new IllegalArgumentException(
          "it has two parameters of type %s: leave one out".formatted(type.getSimpleName()));
    }
    return first;
  }

  boolean isNone() {
    return token < 0 && lease < 0;
  }

  /** The arguments with what that lease has to say. */
  @Nullable Object[] into(@Nullable Object[] arguments, Lease of) {
    @Nullable Object[] filled = arguments.clone();
    if (token >= 0) {
      filled[token] = of.fencingToken();
    }
    if (lease >= 0) {
      filled[lease] = of;
    }
    return filled;
  }
}
