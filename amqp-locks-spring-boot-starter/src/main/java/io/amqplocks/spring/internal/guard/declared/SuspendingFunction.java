package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.KotlinDetector;
import org.springframework.core.Nullness;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * A function of Kotlin that suspends. To Java it is a method whose last parameter is a {@code
 * Continuation} of the result. Spring's proxies call it as a method that returns a {@code Mono},
 * and make of that what its caller sees.
 *
 * <p>Kotlin's classes are told by their names, because they may be missing.
 */
public final class SuspendingFunction {

  /** A class that Spring needs for it, of each library that must be there. */
  private static final Map<String, String> LIBRARIES =
      Map.of(
          "kotlinx.coroutines.reactor.MonoKt",
          "org.jetbrains.kotlinx:kotlinx-coroutines-reactor",
          "kotlin.reflect.full.KClasses",
          "org.jetbrains.kotlin:kotlin-reflect",
          "reactor.core.publisher.Mono",
          "io.projectreactor:reactor-core");

  private SuspendingFunction() {}

  static boolean is(Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return parameters.length > 0
        && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
  }

  /** Whether that is no result, but says that the function has not ended. */
  public static boolean isSuspended(Object result) {
    return result.getClass().getName().equals("kotlin.coroutines.intrinsics.CoroutineSingletons");
  }

  /** What Kotlin says that it returns. */
  private static ResolvableType result(Method method, Class<?> targetClass) {
    return ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, targetClass)
        .getGeneric(0);
  }

  /** Whether its caller expects that there may be no result. */
  public static boolean mayBringNothing(Method method, Class<?> targetClass) {
    Class<?> result = result(method, targetClass).resolve(Object.class);
    return result.getName().equals("kotlin.Unit")
        || Nullness.forMethodReturnType(method) == Nullness.NULLABLE;
  }

  static Optional<String> refusal(Method method, Class<?> targetClass, AdviceMode mode) {
    if (mode == AdviceMode.ASPECTJ) {
      return Optional.of(
          "it is a suspending function of Kotlin, which AspectJ sees return when it only suspends: set"
              + " amqp-locks.annotations.mode=proxy, or acquire the lease in the function, by withLease of"
              + " amqp-locks-kotlin");
    }
    if (ExecutionMode.isAsync(method, targetClass)) {
      return Optional.of(
          "it is a suspending function marked @Async, which Spring cannot begin on another thread: leave"
              + " @Async out");
    }
    List<String> missing = missing();
    if (!missing.isEmpty()) {
      return Optional.of(
          "it is a suspending function of Kotlin, which Spring's proxies cannot call without further"
              + " libraries: add "
              + String.join(", ", missing));
    }
    if (!KotlinDetector.isKotlinType(method.getDeclaringClass())) {
      return Optional.of(
          "it has a Continuation as its last parameter, and was not compiled by Kotlin: return a Mono or a"
              + " CompletableFuture");
    }
    return UnfinishedResult.in(result(method, targetClass))
        .map(
            later ->
                ("it is a suspending function that brings a %s, whose work may go on after the lock was"
                        + " given back: bring the finished result, such as a List")
                    .formatted(later.getSimpleName()));
  }

  /** The classes that Spring needs for it, which a native image must know of. */
  public static Set<String> neededClasses() {
    return LIBRARIES.keySet();
  }

  private static List<String> missing() {
    // Spring looks there.
    ClassLoader loader = AopUtils.class.getClassLoader();
    return LIBRARIES.entrySet().stream()
        .filter(library -> !ClassUtils.isPresent(library.getKey(), loader))
        .map(Map.Entry::getValue)
        .sorted()
        .toList();
  }
}
