package io.amqplocks.spring.aspectj;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.guard.woven.WovenGuards;
import java.lang.reflect.Proxy;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;
import org.jspecify.annotations.Nullable;

/**
 * Guards methods with {@link MutexGuarded}, {@link SemaphoreGuarded}, {@link ReadGuarded} and
 * {@link WriteGuarded} within their own code, where {@code amqp-locks.annotations.mode} is {@code
 * aspectj}. Calls from within the same object, private, final and static methods, and objects that
 * Spring did not make are guarded then. With another mode it lets all calls pass, and Spring's
 * proxies guard.
 *
 * <p>It applies to the annotated methods of a class, and to the public ones of an annotated class
 * and of its subclasses, where these are written. Annotations of ours count on another annotation
 * too, one level deep. One on a method of an interface or of a superclass counts for the method
 * that implements or overrides it, unless type parameters are replaced there. A bean's method that
 * would be guarded by a proxy and is not woven stops the start.
 *
 * <p>A bean uses the locks of the application context that made it. All other objects and static
 * methods use those of the context that started last and is not closed. Without one, the call is an
 * {@link IllegalStateException}, unless the system property {@code amqp-locks.enabled} is {@code
 * false}.
 *
 * <p>The lock is outside the other woven aspects, such as Spring's for transactions, and inside
 * Spring's for {@code @Async}. It is inside all of Spring's proxies: a transaction by a proxy
 * commits after the lock was released.
 *
 * <p>For weavers only: build files may name the class, and code does not use it. It is no bean.
 */
@Aspect
@DeclarePrecedence(
    "org.springframework.scheduling.aspectj.*, io.amqplocks.spring.aspectj.LockAspect, *")
public final class LockAspect {

  private static final String OURS =
      "io.amqplocks.spring.MutexGuarded || io.amqplocks.spring.MutexGuarded.List"
          + " || io.amqplocks.spring.SemaphoreGuarded || io.amqplocks.spring.SemaphoreGuarded.List"
          + " || io.amqplocks.spring.ReadGuarded || io.amqplocks.spring.ReadGuarded.List"
          + " || io.amqplocks.spring.WriteGuarded || io.amqplocks.spring.WriteGuarded.List";

  private static final String ANNOTATED = "@(" + OURS + " || (@(" + OURS + ") *))";

  /** As proxies do, where a class is annotated: all its public methods that an object has. */
  private static final String GUARDED =
      "execution("
          + ANNOTATED
          + " * *(..))"
          + " || execution(public !static * (("
          + ANNOTATED
          + " *)+).*(..))";

  private static final LockAspect INSTANCE = new LockAspect();

  private LockAspect() {}

  /**
   * The only one. Written out, because a compiler that weaves other classes with this one does not
   * add it.
   */
  public static LockAspect aspectOf() {
    return INSTANCE;
  }

  /** There is one, always. */
  public static boolean hasAspect() {
    return true;
  }

  /** Runs a call under its locks. */
  @Around(GUARDED)
  public @Nullable Object guard(ProceedingJoinPoint point) throws Throwable {
    if (isGenerated(point.getSignature().getDeclaringType())) {
      return point.proceed();
    }
    WovenCall call = new WovenCall(point);
    return call.isPartOfOverriding() ? point.proceed() : WovenGuards.run(call);
  }

  /**
   * A proxy is a subclass, and woven too if the class or the interface is annotated. It calls what
   * is guarded. So are annotations with ours, which the JDK makes proxies for.
   */
  private static boolean isGenerated(Class<?> type) {
    return Proxy.isProxyClass(type) || type.getName().contains("$$SpringCGLIB$$");
  }
}
