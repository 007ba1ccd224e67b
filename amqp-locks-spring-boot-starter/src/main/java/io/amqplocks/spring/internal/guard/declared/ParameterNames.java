package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.KotlinReflectionParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.StandardReflectionParameterNameDiscoverer;

/**
 * The names of parameters. They are those in the bytecode. If there are none, they are those that
 * {@code kotlin-reflect} knows, if it is there.
 */
final class ParameterNames implements ParameterNameDiscoverer {

  private final ParameterNameDiscoverer inBytecode =
      new StandardReflectionParameterNameDiscoverer();
  private final @Nullable ParameterNameDiscoverer ofKotlin =
      KotlinDetector.isKotlinReflectPresent()
          ? new KotlinReflectionParameterNameDiscoverer()
          : null;

  @Override
  public @Nullable String @Nullable [] getParameterNames(Method method) {
    @Nullable String @Nullable [] names = inBytecode.getParameterNames(method);
    if (names != null || ofKotlin == null) {
      return names;
    }
    @Nullable String @Nullable [] known = ofKotlin.getParameterNames(method);
    int count = method.getParameterCount() - (SuspendingFunction.is(method) ? 1 : 0);
    // It leaves out context parameters, and each name after them would stand for another argument.
    return known != null && known.length == count ? known : null;
  }

  @Override
  public @Nullable String @Nullable [] getParameterNames(Constructor<?> constructor) {
    return inBytecode.getParameterNames(constructor);
  }
}
