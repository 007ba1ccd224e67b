package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Where a method's annotations are found: on itself, on the methods that it overrides or
 * implements, or else on its class, the classes above and their interfaces; on other annotations;
 * repeated. Of each type the nearest place counts, with all that stand there. The two types for the
 * sides of read-write locks count as one: a class whose methods read may have one that writes.
 */
public final class GuardAnnotations {

  /** The annotations. Those of one set replace each other. */
  private static final List<Set<Class<? extends Annotation>>> OURS =
      List.of(
          Set.of(MutexGuarded.class),
          Set.of(SemaphoreGuarded.class),
          Set.of(ReadGuarded.class, WriteGuarded.class));

  private GuardAnnotations() {}

  /** Whether the method of that class, not one of its ancestors', has an annotation. */
  public static boolean isGuarded(Method method, Class<?> targetClass) {
    return has(method) || (isCoveredByClass(method) && has(targetClass));
  }

  /** Whether it is only the class that has an annotation of the method. */
  public static boolean isByClass(Method method) {
    return !has(method);
  }

  /**
   * Whether LockAspect finds the annotation of the method: on itself, or on its class or above, if
   * it is public; there also on an annotation.
   */
  public static boolean isVisibleToAspectJ(Method method) {
    return hasItself(method) || (isCoveredByClass(method) && isByType(method.getDeclaringClass()));
  }

  private static boolean isByType(Class<?> type) {
    Class<?> above = type.getSuperclass();
    return hasItself(type)
        || (above != null && isByType(above))
        || Arrays.stream(type.getInterfaces()).anyMatch(GuardAnnotations::isByType);
  }

  private static boolean hasItself(AnnotatedElement element) {
    return MergedAnnotations.from(element, SearchStrategy.DIRECT).stream()
        .anyMatch(found -> found.getDistance() <= 1 && isOurs(found));
  }

  private static boolean isOurs(MergedAnnotation<?> found) {
    return OURS.stream().anyMatch(types -> isOf(types, found));
  }

  private static boolean isOf(Set<Class<? extends Annotation>> types, MergedAnnotation<?> found) {
    return types.contains(found.getType());
  }

  /** All that count for the method. */
  public static List<MergedAnnotation<Annotation>> of(Method method, Class<?> targetClass) {
    List<MergedAnnotation<Annotation>> result = new ArrayList<>();
    for (Set<Class<? extends Annotation>> types : OURS) {
      List<MergedAnnotation<Annotation>> own = nearest(method, types);
      result.addAll(own.isEmpty() && isCoveredByClass(method) ? nearest(targetClass, types) : own);
    }
    return result;
  }

  /** The values of that attribute of all that count for the method and have it. */
  public static Stream<String> attributes(Method method, Class<?> targetClass, String name) {
    return of(method, targetClass).stream()
        .flatMap(found -> found.getValue(name, String.class).stream());
  }

  private static boolean has(AnnotatedElement element) {
    MergedAnnotations all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
    return OURS.stream().flatMap(Set::stream).anyMatch(all::isPresent);
  }

  private static boolean isCoveredByClass(Method method) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && !method.isSynthetic()
        && method.getDeclaringClass() != Object.class;
  }

  private static List<MergedAnnotation<Annotation>> nearest(
      AnnotatedElement element, Set<Class<? extends Annotation>> types) {
    List<MergedAnnotation<Annotation>> all =
        MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream()
            .filter(found -> isOf(types, found))
            .toList();
    int nearest =
        all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElse(Integer.MAX_VALUE);
    return all.stream().filter(found -> found.getAggregateIndex() == nearest).toList();
  }
}
