package io.amqplocks.spring.internal.guard.woven;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * Finds for a call of a woven method the application whose locks it needs: a bean's is the one that
 * made it, and another object's the one that started last and is not closed.
 *
 * <p>Static, because woven code belongs to its class, and a class may serve several applications at
 * once. Beans are held weakly and told apart by identity.
 *
 * <p>Concurrency: both collections are concurrent, and no decision needs the two to agree. An
 * application enters itself before it makes a bean, and a bean is entered before it is handed out.
 */
public final class WovenGuards {

  private static final List<WovenGuard> OPEN = new CopyOnWriteArrayList<>();
  private static final Map<Identity, WovenGuard> MAKERS = new ConcurrentHashMap<>();
  private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();

  private WovenGuards() {}

  /**
   * Runs the call as its application says.
   *
   * @throws IllegalStateException if there is no application
   */
  public static @Nullable Object run(ProxyMethodInvocation call) throws Throwable {
    WovenGuard guard = find(call.getThis());
    if (guard != null) {
      return guard.run(call);
    }
    if ("false".equalsIgnoreCase(System.getProperty("amqp-locks.enabled"))) {
      return call.proceed();
    }
    throw new IllegalStateException(
        WovenGuard.name(call.getMethod())
            + " is guarded by a lock, and no application context with locks is open: it has not started yet,"
            + " or it was closed. Call it while one is open; or, in a test without Spring, set the system"
            + " property amqp-locks.enabled=false, and it runs without its lock");
  }

  private static @Nullable WovenGuard find(@Nullable Object target) {
    WovenGuard maker = target == null ? null : MAKERS.get(new Identity(target, null));
    if (maker != null) {
      return maker;
    }
    WovenGuard last = null;
    for (WovenGuard each : OPEN) {
      last = each;
    }
    return last;
  }

  static void opened(WovenGuard guard) {
    OPEN.add(guard);
  }

  static void closed(WovenGuard guard) {
    OPEN.remove(guard);
  }

  /** Notes which application created the object. */
  static void made(Object bean, WovenGuard by) {
    for (Object gone = GONE.poll(); gone != null; gone = GONE.poll()) {
      MAKERS.remove(gone);
    }
    MAKERS.put(new Identity(bean, GONE), by);
  }

  /** An object by its identity; equal to itself after the object is gone. */
  private static final class Identity extends WeakReference<Object> {
    private final int hash;

    Identity(Object object, @Nullable ReferenceQueue<Object> gone) {
      super(object, gone);
      hash = System.identityHashCode(object);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // beans may be equal
    public boolean equals(@Nullable Object other) {
      if (this == other) {
        return true;
      }
      Object object = get();
      return object != null && other instanceof Identity identity && identity.get() == object;
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }
}
