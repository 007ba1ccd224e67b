package io.amqplocks.spring.guard;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;

/**
 * The methods on which an annotation would promise what it cannot keep: either no call goes through
 * the proxy, or the work goes on after the method has returned and its lock was given back.
 */
final class UnguardableMethod {

  private UnguardableMethod() {}

  static Optional<String> reasonFor(Method method) {
    int modifiers = method.getModifiers();
    for (int unproxied : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
      if ((modifiers & unproxied) != 0) {
        return Optional.of(
            "it is %s, so calls do not go through the proxy"
                .formatted(Modifier.toString(unproxied)));
      }
    }
    if (!method.isAnnotationPresent(MutexGuarded.class)
        && !method.isAnnotationPresent(SemaphoreGuarded.class)) {
      return Optional.of(
          "the annotation is on an interface, on a method that this one overrides, or on another"
              + " annotation, where proxies do not see it: annotate this method itself");
    }
    if (LaterWork.isReturnedBy(method)) {
      return Optional.of(returning(method.getReturnType()));
    }
    return Optional.empty();
  }

  /** Why a method cannot be guarded that returns that. */
  static String returning(Class<?> result) {
    return "it returns %s, so its work may go on after it has returned, which is not supported yet:"
            .formatted(result.getSimpleName())
        + " acquire a lease by LockTemplate and close it when the work is done";
  }
}
