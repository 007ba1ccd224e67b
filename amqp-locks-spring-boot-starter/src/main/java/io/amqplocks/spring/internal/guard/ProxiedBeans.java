package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.FactoryBean;

/**
 * Sees to it that beans with guarded methods have a proxy that guards them, and that no method goes
 * on behind it on another thread. Warns of calls that do not go through the proxy, and of locks
 * that are released too early for a transaction.
 */
public final class ProxiedBeans implements GuardedBeanCheck {

  private final GuardAdvisor advisor;
  private final boolean isOrderChosen;
  private final SelfInvocations selfInvocations;
  private final OuterTransactions outerTransactions;
  private final AsyncBehindLock asyncBehindLock;

  /**
   * Checks the beans that have those methods, which that advisor guards.
   *
   * @param isOrderChosen whether the application says where the lock is among other advice
   * @param asyncIsWoven whether AspectJ carries out {@code @Async}, which is behind all proxies
   */
  public ProxiedBeans(
      GuardedMethods methods,
      GuardAdvisor advisor,
      boolean isOrderChosen,
      BooleanSupplier asyncIsWoven) {
    this.advisor = advisor;
    this.isOrderChosen = isOrderChosen;
    selfInvocations = new SelfInvocations(methods);
    outerTransactions = new OuterTransactions(methods);
    asyncBehindLock = new AsyncBehindLock(methods, asyncIsWoven);
  }

  @Override
  public void check(String name, Class<?> type, Set<Method> guarded, @Nullable Object bean) {
    if (bean != null
        && !(bean instanceof FactoryBean)
        && !GuardingProxy.mayBe(bean)
        && !advisor.guards(name) // then something is around the proxy that guards
        && !MockedBean.is(bean)) {
      throw new GuardedMethodException(
          "The bean '%s' of %s has guarded methods but no proxy that guards them, so they would run without their locks."
                  .formatted(name, type.getName())
              + " Something that processes beans (a BeanPostProcessor, a BeanFactoryPostProcessor or an"
              + " Advisor) depends on it, so that it was created too early: let that ask for it later, as by"
              + " an ObjectProvider or @Lazy, or declare it by a static @Bean method without the dependency");
    }
    asyncBehindLock.refuse(name, type, guarded, bean);
    selfInvocations.warn(type, guarded);
    if (bean != null && !isOrderChosen) {
      outerTransactions.warn(type, guarded, bean);
    }
  }
}
