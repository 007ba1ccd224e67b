package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The text of a key's value: the same for equal values, in all processes, or else none. Lists,
 * arrays and sorted sets have the text of their elements in order. Other sets and all maps have no
 * order that equal ones share: two calls for the same things would have two locks.
 */
final class KeyText {

  /** Asked for each key, since most are of few classes; forgotten with the class. */
  private static final ClassValue<Boolean> HAS_TEXT =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
          } catch (NoSuchMethodException e) {
            return false;
          }
        }
      };

  /** The name of a record's component that has no text, or whose own component has none. */
  private static final ClassValue<Optional<String>> WITHOUT_TEXT =
      new ClassValue<>() {
        @Override
        protected Optional<String> computeValue(Class<?> type) {
          return componentWithoutText(type, new HashSet<>());
        }
      };

  private KeyText() {}

  /**
   * The text of the value.
   *
   * @throws IllegalArgumentException if it has none; says how that is
   */
  static String of(@Nullable Object value) {
    if (value == null) {
      throw new IllegalArgumentException(
          "is null: take a lock only where there is a key, or choose another one");
    }
    if (value instanceof Optional<?> optional) {
      return of(optional.orElse(null));
    }
    if (value instanceof List<?> || value instanceof SortedSet<?>) {
      return elements((Collection<?>) value);
    }
    if (value.getClass().isArray()) {
      return elements(
          IntStream.range(0, Array.getLength(value)).mapToObj(i -> Array.get(value, i)).toList());
    }
    if (value instanceof Collection<?> || value instanceof Map<?, ?>) {
      throw new IllegalArgumentException(
          "is a %s, which equal ones need not iterate over in the same order: use a List or a SortedSet, as by 'new java.util.TreeSet(#ids)'"
              .formatted(value.getClass().getName()));
    }
    if (value instanceof Double || value instanceof Float) {
      throw new IllegalArgumentException(
          "is a %s, whose text changed with JDK 19: use a java.math.BigDecimal or a String"
              .formatted(value.getClass().getName()));
    }
    Optional<String> component = WITHOUT_TEXT.get(value.getClass());
    if (component.isPresent()) {
      throw new IllegalArgumentException(
          "is a record %s, and the text of its component '%s' may differ for equal values: use a property of it, or a record without that component"
              .formatted(value.getClass().getName(), component.get()));
    }
    if (value instanceof Date || value instanceof Calendar) {
      throw new IllegalArgumentException(
          "is a %s, whose text depends on the time zone of the process: use a java.time.Instant or a java.time.LocalDate"
              .formatted(value.getClass().getName()));
    }
    if (value instanceof InetAddress) {
      throw new IllegalArgumentException(
          "is a %s, whose text depends on how it was found: use its getHostAddress()"
              .formatted(value.getClass().getName()));
    }
    String text = hasText(value.getClass()) ? value.toString() : null;
    if (text == null || IdentityText.is(value, text)) {
      throw new IllegalArgumentException(
          "is a %s, whose text differs from object to object: use a property of it that stays the same"
              .formatted(value.getClass().getName()));
    }
    return text;
  }

  /** Whether objects of the class have another text than that of any object. */
  static boolean hasText(Class<?> type) {
    return HAS_TEXT.get(type);
  }

  /**
   * A record's text has that of each component as it is, whatever {@link #of} would make of it.
   * What a component's type does not show is not found.
   */
  private static Optional<String> componentWithoutText(Class<?> type, Set<Class<?>> visited) {
    if (!type.isRecord() || !visited.add(type)) {
      return Optional.empty();
    }
    return Stream.of(type.getRecordComponents())
        .filter(
            component ->
                hasNoText(component.getType())
                    || componentWithoutText(component.getType(), visited).isPresent())
        .map(RecordComponent::getName)
        .findFirst();
  }

  private static boolean hasNoText(Class<?> type) {
    return type.isArray()
        || (Set.class.isAssignableFrom(type) && !SortedSet.class.isAssignableFrom(type))
        || Stream.of(
                Map.class,
                double.class,
                Double.class,
                float.class,
                Float.class,
                Date.class,
                Calendar.class,
                InetAddress.class)
            .anyMatch(each -> each.isAssignableFrom(type));
  }

  private static String elements(Collection<?> all) {
    return all.stream()
        .map(
            element -> {
              try {
                return of(element);
              } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("has an element that " + e.getMessage(), e);
              }
            })
        .collect(Collectors.joining(", ", "[", "]"));
  }
}
