package io.amqplocks.shedlock;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Real locks whose leases are UNCERTAIN when a test says so. No broker can be told to do that. */
final class LeasesInDoubt {

  private final AmqpLocks real;
  private volatile boolean doubtful;
  private volatile boolean answered;

  LeasesInDoubt(AmqpLocks real) {
    this.real = real;
  }

  /** From now on the broker does not answer. */
  void begin() {
    answered = false;
    doubtful = true;
  }

  /** The broker answers the next one who asks. */
  void endWhenAsked() {
    answered = true;
  }

  AmqpLocks locks() {
    return proxy(
        AmqpLocks.class,
        (proxy, method, arguments) -> {
          Object result = call(method, real, arguments);
          return result instanceof AmqpLock lock ? lock(lock) : result;
        });
  }

  private AmqpLock lock(AmqpLock lock) {
    return proxy(
        AmqpLock.class,
        (proxy, method, arguments) -> {
          Object result = call(method, lock, arguments);
          return result instanceof Optional<?> optional
              ? optional.map(lease -> lease((Lease) lease))
              : result;
        });
  }

  private Lease lease(Lease lease) {
    return proxy(
        Lease.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals("verify") && answered) {
            doubtful = false;
          }
          Object result = call(method, lease, arguments);
          return result == LeaseState.HELD && doubtful ? LeaseState.UNCERTAIN : result;
        });
  }

  private static @Nullable Object call(Method method, Object target, Object @Nullable [] arguments)
      throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
