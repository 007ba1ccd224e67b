package io.amqplocks.spring.internal.guard.method;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a call returns that was skipped. */
final class EmptyResult {

  private EmptyResult() {}

  /** The empty value of that type; null if the type has none. */
  static @Nullable Object of(Class<?> type) {
    if (type == Optional.class) {
      return Optional.empty();
    }
    if (type == OptionalInt.class) {
      return OptionalInt.empty();
    }
    if (type == OptionalLong.class) {
      return OptionalLong.empty();
    }
    return type == OptionalDouble.class ? OptionalDouble.empty() : null;
  }

  /** Whether that type has no such value. */
  static boolean isMissingIn(Class<?> type) {
    return type.isPrimitive() && type != void.class;
  }
}
