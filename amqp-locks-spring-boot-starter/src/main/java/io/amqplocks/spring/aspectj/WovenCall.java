package io.amqplocks.spring.aspectj;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * A call of a woven method, as Spring's interceptors see calls.
 *
 * <p>Concurrency: a call and its clones may be made on different threads, and each is used by one
 * at a time. Which calls run is known for each thread by itself: what a thread of a library runs of
 * a call is entered there while it runs.
 */
final class WovenCall implements ProxyMethodInvocation {

  /** The innermost call that this thread runs. */
  private static final ThreadLocal<@Nullable WovenCall> RUNNING = new ThreadLocal<>();

  private final ProceedingJoinPoint point;
  private final Method method;
  private final @Nullable Object target;
  private final Map<String, Object> attributes;
  private @Nullable Object[] arguments;
  private @Nullable WovenCall outer;

  WovenCall(ProceedingJoinPoint point) {
    this.point = point;
    method = ((MethodSignature) point.getSignature()).getMethod();
    target = point.getThis();
    attributes = new HashMap<>();
    arguments = point.getArgs();
  }

  private WovenCall(WovenCall of, @Nullable Object[] arguments) {
    point = of.point;
    method = of.method;
    target = of.target;
    attributes = new HashMap<>(of.attributes);
    this.arguments = arguments;
  }

  /**
   * Whether it is {@code super.method()} within the method that overrides this one and is guarded
   * itself. The work is that one's, as it is with proxies. A method that returns a stage would wait
   * for itself.
   */
  boolean isPartOfOverriding() {
    WovenCall running = RUNNING.get();
    if (running == null || target == null) {
      return false;
    }
    Method specific =
        AopUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(target.getClass()));
    if (specific.equals(method)) {
      return false;
    }
    for (WovenCall each = running; each != null; each = each.outer) {
      if (each.isOf(target) && each.method.equals(specific)) {
        return true;
      }
    }
    return false;
  }

  @SuppressWarnings("ReferenceEquality") // two objects that are equal have two calls
  private boolean isOf(Object object) {
    return target == object;
  }

  @Override
  public @Nullable Object proceed() throws Throwable {
    WovenCall before = RUNNING.get();
    outer = before;
    RUNNING.set(this);
    try {
      return point.proceed(arguments);
    } finally {
      if (before == null) {
        RUNNING.remove();
      } else {
        RUNNING.set(before);
      }
    }
  }

  @Override
  public Method getMethod() {
    return method;
  }

  @Override
  public @Nullable Object getThis() {
    return target;
  }

  @Override
  public AccessibleObject getStaticPart() {
    return method;
  }

  @Override
  public @Nullable Object[] getArguments() {
    return arguments;
  }

  @Override
  public void setArguments(@Nullable Object... arguments) {
    this.arguments = arguments;
  }

  @Override
  public WovenCall invocableClone() {
    return invocableClone(arguments.clone());
  }

  @Override
  public WovenCall invocableClone(@Nullable Object... arguments) {
    return new WovenCall(this, arguments);
  }

  /** The object itself: there is no proxy. */
  @Override
  public Object getProxy() {
    if (target == null) {
      throw new IllegalStateException(method + " is static and has no object");
    }
    return target;
  }

  @Override
  public void setUserAttribute(String key, @Nullable Object value) {
    if (value == null) {
      attributes.remove(key);
    } else {
      attributes.put(key, value);
    }
  }

  @Override
  public @Nullable Object getUserAttribute(String key) {
    return attributes.get(key);
  }
}
