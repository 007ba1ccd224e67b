package io.amqplocks.spring.guard;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Results that stand for work which goes on, or only begins, after the method has returned them: a
 * lock that was given back at the return would not cover it.
 */
final class LaterWork {

  private static final Set<Class<?>> TYPES =
      Set.of(
          CompletionStage.class,
          Future.class,
          Flow.Publisher.class,
          Callable.class,
          BaseStream.class);

  /** Of libraries that an application may or may not have. Subtypes count too. */
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

  /** Asked once for each class, since every guarded call asks; forgotten with the class. */
  private static final ClassValue<Boolean> KNOWN =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return find(type);
        }
      };

  private LaterWork() {}

  /**
   * The result of the method that its declaration says is such a one, also within the response or the
   * {@code Optional} that it returns.
   */
  static Optional<Class<?>> returnedBy(Method method, Class<?> targetClass) {
    return in(ResolvableType.forMethodReturnType(method, targetClass));
  }

  /** The same of what its stage, {@code Mono} or {@code Flux} brings, which the lock is held for. */
  static Optional<Class<?>> broughtBy(Method method, Class<?> targetClass) {
    return in(ResolvableType.forMethodReturnType(method, targetClass).getGeneric(0));
  }

  private static Optional<Class<?>> in(ResolvableType type) {
    Class<?> resolved = type.resolve(Object.class);
    if (is(resolved)) {
      return Optional.of(resolved);
    }
    return isNamed(resolved, WRAPPERS) && type.hasGenerics()
        ? in(type.getGeneric(0))
        : Optional.empty();
  }

  /** Whether an object of that class is such a result. */
  static boolean is(Class<?> type) {
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

  /** Whether it is a suspending function of Kotlin. */
  static boolean isSuspending(Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return parameters.length > 0
        && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
  }
}
