package io.amqplocks.spring.internal.guard.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * A fallback that this thread runs. Its own annotations have no effect then, also where its code is
 * woven: it may be annotated by its class, with the very lock that was not acquired.
 *
 * <p>Concurrency: confined to the thread that calls the fallback. What that one starts on other
 * threads is guarded.
 */
public final class RunningFallback {

  /** The innermost one. */
  private static final ThreadLocal<@Nullable RunningFallback> RUNNING = new ThreadLocal<>();

  private final Method method;
  private final @Nullable Object target;
  private final @Nullable RunningFallback outer;

  private RunningFallback(Method method, @Nullable Object target, @Nullable RunningFallback outer) {
    this.method = method;
    this.target = target;
    this.outer = outer;
  }

  /** Runs the call of it. */
  static @Nullable Object run(Method method, @Nullable Object target, Call call) throws Throwable {
    RunningFallback before = RUNNING.get();
    boolean isStatic = Modifier.isStatic(method.getModifiers());
    RUNNING.set(new RunningFallback(specific(method, target), isStatic ? null : target, before));
    try {
      return call.run();
    } finally {
      if (before == null) {
        RUNNING.remove();
      } else {
        RUNNING.set(before);
      }
    }
  }

  /** Whether this thread runs that method of that object as a fallback. */
  public static boolean is(Method method, @Nullable Object target) {
    RunningFallback running = RUNNING.get();
    if (running == null) {
      return false;
    }
    Method specific = specific(method, target);
    for (RunningFallback each = running; each != null; each = each.outer) {
      if (each.isOf(target) && each.method.equals(specific)) {
        return true;
      }
    }
    return false;
  }

  @SuppressWarnings("ReferenceEquality") // objects that are equal are not the same
  private boolean isOf(@Nullable Object object) {
    return target == object;
  }

  /** The one that overrides it; {@code super.method()} in that one is part of it. */
  private static Method specific(Method method, @Nullable Object target) {
    return target == null
        ? method
        : AopUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(target.getClass()));
  }

  /** What may throw anything. */
  @FunctionalInterface
  interface Call {
    @Nullable Object run() throws Throwable;
  }
}
