package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/**
 * What {@code #root} is in the expressions of an annotation. Public for SpEL, which reads it by its
 * getters.
 */
public final class KeyRoot {

  private final Method method;
  private final @Nullable Object[] args;
  private final @Nullable Object target;

  KeyRoot(Method method, @Nullable Object[] args, @Nullable Object target) {
    this.method = method;
    this.args = args;
    this.target = target;
  }

  /** The guarded method, as its class declares it. */
  public Method getMethod() {
    return method;
  }

  /** The arguments of the call. */
  public @Nullable Object[] getArgs() {
    return args;
  }

  /** The object that is called, not its proxy. */
  public @Nullable Object getTarget() {
    return target;
  }

  /** The class of that object. */
  public Class<?> getTargetClass() {
    return target == null ? method.getDeclaringClass() : AopUtils.getTargetClass(target);
  }
}
