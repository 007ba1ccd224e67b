package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Where a method's annotations are found: on itself, on the methods that it overrides or
 * implements, or else on its class, the classes above and their interfaces; on other annotations;
 * repeated. Of each type the nearest place counts, with all that stand there.
 */
public final class GuardAnnotations {

  private static final Set<String> OURS =
      Set.of(MutexGuarded.class.getName(), SemaphoreGuarded.class.getName());

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
        .anyMatch(found -> found.getDistance() <= 1 && OURS.contains(found.getType().getName()));
  }

  /** All of that type that count for the method. */
  public static <A extends Annotation> List<A> of(
      Method method, Class<?> targetClass, Class<A> type) {
    List<A> own = nearest(method, type);
    return own.isEmpty() && isCoveredByClass(method) ? nearest(targetClass, type) : own;
  }

  private static boolean has(AnnotatedElement element) {
    MergedAnnotations all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
    return all.isPresent(MutexGuarded.class) || all.isPresent(SemaphoreGuarded.class);
  }

  private static boolean isCoveredByClass(Method method) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && !method.isSynthetic()
        && method.getDeclaringClass() != Object.class;
  }

  private static <A extends Annotation> List<A> nearest(AnnotatedElement element, Class<A> type) {
    List<MergedAnnotation<A>> all =
        MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(type).toList();
    int nearest =
        all.stream().mapToInt(MergedAnnotation::getAggregateIndex).min().orElse(Integer.MAX_VALUE);
    return all.stream()
        .filter(found -> found.getAggregateIndex() == nearest)
        .map(MergedAnnotation::synthesize)
        .toList();
  }
}
