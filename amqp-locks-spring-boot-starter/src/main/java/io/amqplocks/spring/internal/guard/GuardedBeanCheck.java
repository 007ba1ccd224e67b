package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sees to it at startup that the calls of guarded methods go through a guard. */
public interface GuardedBeanCheck {

  /**
   * Looks at a bean.
   *
   * @param type its class as the application wrote it, or the interface that it is made from
   * @param guarded its methods with annotations, whose settings are known
   * @param bean the object; null if it is not created, or not a singleton
   * @throws GuardedMethodException if a guard is missing
   */
  void check(String name, Class<?> type, Set<Method> guarded, @Nullable Object bean);

  /**
   * All beans were looked at.
   *
   * @throws LockConfigurationException if guards are missing
   */
  default void complete() {}
}
