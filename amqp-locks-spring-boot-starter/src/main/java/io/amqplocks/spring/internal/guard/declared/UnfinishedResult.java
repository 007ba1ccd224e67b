package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.util.ClassUtils;

/**
 * Results that stand for work that goes on, or only begins, after the method has returned them. A
 * lock that was given back at the return would not cover that work.
 */
public final class UnfinishedResult {

  private static final Set<Class<?>> TYPES =
      Set.of(
          CompletionStage.class,
          Future.class,
          Flow.Publisher.class,
          Callable.class,
          BaseStream.class);

  /** Types of libraries that an application may or may not have. Subtypes count too. */
  private static final Set<String> NAMES =
      Set.of(
          "org.reactivestreams.Publisher",
          "kotlinx.coroutines.Job",
          "kotlinx.coroutines.flow.Flow",
          "kotlin.sequences.Sequence",
          "org.springframework.web.context.request.async.DeferredResult",
          "org.springframework.web.context.request.async.WebAsyncTask",
          "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
          "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

  private static final Set<String> WRAPPERS =
      Set.of("org.springframework.http.HttpEntity", "java.util.Optional");

  /**
   * Computed once for each class, because every guarded call needs it. The entry is discarded with
   * the class.
   */
  private static final ClassValue<Boolean> KNOWN =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return find(type);
        }
      };

  private static final boolean HAS_RESPONSES =
      ClassUtils.isPresent(
          "org.springframework.http.HttpEntity", UnfinishedResult.class.getClassLoader());

  private UnfinishedResult() {}

  /**
   * The type of an unfinished result that the method returns by its declaration. It may be wrapped
   * in a response or an {@code Optional}.
   */
  static Optional<Class<?>> returnedBy(Method method, Class<?> targetClass) {
    return in(ResolvableType.forMethodReturnType(method, targetClass));
  }

  /**
   * The type of an unfinished result that the method's stage, {@code Mono} or {@code Flux} emits.
   * The lock is held only until that stage, {@code Mono} or {@code Flux} ends.
   */
  static Optional<Class<?>> broughtBy(Method method, Class<?> targetClass) {
    return in(ResolvableType.forMethodReturnType(method, targetClass).getGeneric(0));
  }

  /** The type of an unfinished result that is or may be in a value of that type. */
  static Optional<Class<?>> in(ResolvableType type) {
    Class<?> resolved = type.resolve(Object.class);
    if (is(resolved)) {
      return Optional.of(resolved);
    }
    return isNamed(resolved, WRAPPERS) && type.hasGenerics()
        ? in(type.getGeneric(0))
        : Optional.empty();
  }

  /**
   * The type of the unfinished result that a value is, or that it has within a response or an
   * {@code Optional}.
   */
  public static Optional<Class<?>> in(Object value) {
    @Nullable Object wrapped = value;
    while (wrapped != null && !is(wrapped.getClass())) {
      if (wrapped instanceof Optional<?> optional) {
        wrapped = optional.orElse(null);
      } else {
        wrapped = HAS_RESPONSES ? Responses.body(wrapped) : null;
      }
    }
    return Optional.ofNullable(wrapped).map(Object::getClass);
  }

  /** Loaded only where Spring's web module is. */
  private static final class Responses {
    static @Nullable Object body(Object value) {
      return value instanceof HttpEntity<?> response ? response.getBody() : null;
    }
  }

  private static boolean is(Class<?> type) {
    return KNOWN.get(type);
  }

  private static boolean find(Class<?> type) {
    return TYPES.stream().anyMatch(later -> later.isAssignableFrom(type))
        || isNamed(type, NAMES)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
  }

  private static boolean isNamed(Class<?> type, Set<String> names) {
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (names.contains(each.getName())) {
        return true;
      }
    }
    return ClassUtils.getAllInterfacesForClassAsSet(type).stream()
        .anyMatch(supertype -> names.contains(supertype.getName()));
  }
}
