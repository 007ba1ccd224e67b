package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import org.springframework.context.annotation.AdviceMode;

/**
 * The methods on which an annotation would promise what it cannot keep: either no call goes through
 * the proxy, or the work goes on after the method has returned and its lock was given back.
 */
public final class UnguardableMethod {

  private UnguardableMethod() {}

  public static Optional<String> reasonFor(Method method, Class<?> targetClass, AdviceMode mode) {
    int modifiers = method.getModifiers();
    for (int unproxied : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
      if (mode == AdviceMode.PROXY && (modifiers & unproxied) != 0) {
        return Optional.of(unproxied(method, unproxied));
      }
    }
    if (mode == AdviceMode.PROXY && isOfAnotherPackage(method, targetClass)) {
      return Optional.of(
          "it is package-private and %s of another package inherits it, so calls do not go through the proxy: make it protected or public, or set amqp-locks.annotations.mode=aspectj"
              .formatted(targetClass.getSimpleName()));
    }
    if (SuspendingFunction.is(method)) {
      return SuspendingFunction.refusal(method, targetClass, mode);
    }
    if (ExecutionMode.of(method, targetClass) == ExecutionMode.SYNCHRONOUS) {
      return UnfinishedResult.returnedBy(method, targetClass).map(UnguardableMethod::returning);
    }
    return UnfinishedResult.broughtBy(method, targetClass)
        .map(
            brought ->
                ("its %s brings a %s, whose work may go on after the lock was given back: bring the"
                        + " finished result, as a List, or return a Flux of it")
                    .formatted(method.getReturnType().getSimpleName(), brought.getSimpleName()));
  }

  /** Whether a proxy, which is a subclass in the class's package, cannot override the method. */
  public static boolean isOfAnotherPackage(Method method, Class<?> targetClass) {
    int reachable = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE;
    return (method.getModifiers() & reachable) == 0
        && !method.getDeclaringClass().getPackageName().equals(targetClass.getPackageName());
  }

  private static String unproxied(Method method, int modifier) {
    String word = Modifier.toString(modifier);
    return GuardAnnotations.isByClass(method)
        ? "the annotation is on the class and it is %s, so calls of it do not go through the proxy: take '%s' away, or annotate the other methods instead"
            .formatted(word, word)
        : "it is %s, so calls do not go through the proxy: take '%s' away, move it to another bean, or set amqp-locks.annotations.mode=aspectj"
            .formatted(word, word);
  }

  /** Why a method cannot be guarded that returns that. */
  public static String returning(Class<?> result) {
    return "it returns %s, so its work may go on after it has returned: declare a CompletableFuture, a Mono or a"
            .formatted(result.getSimpleName())
        + " Flux, or acquire a lease by LockTemplate and close it when the work is done";
  }
}
