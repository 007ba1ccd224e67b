package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.internal.guard.GuardScanner;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.declared.GuardAnnotations;
import io.amqplocks.spring.internal.guard.woven.WovenBeans;
import io.amqplocks.spring.internal.guard.woven.WovenMethods;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Refuses locks on the methods that Spring calls on the object itself when it creates or destroys a
 * bean. Those calls do not go through the proxy, so they would run without the lock. It looks
 * before Spring makes the first of them, since a migration without its lock must not run even once.
 *
 * <p>It is the last one of its order: those who read {@code @PostConstruct}, {@code @PreDestroy}
 * and {@code @Autowired} have entered in the bean's definition by then what they found.
 */
public final class LifecycleMethodCheck
    implements MergedBeanDefinitionPostProcessor, PriorityOrdered {

  /** When Spring calls a method on the object itself, and where the work can be done instead. */
  private enum Moment {
    CREATION(
        "while it creates the bean",
        "do the work in an ApplicationRunner or an @EventListener(ApplicationReadyEvent.class) method, which are"
            + " called through the proxy; or, if it must be done earlier, call LockTemplate in the method"),
    DESTRUCTION(
        "while it destroys the bean",
        "do the work in an @EventListener(ContextClosedEvent.class) method, which is called"
            + " while there still are locks");

    private final String time;
    private final String remedy;

    Moment(String time, String remedy) {
      this.time = time;
      this.remedy = remedy;
    }
  }

  private final AdviceMode mode;

  /**
   * A check for methods that are guarded so. What is woven is guarded also when Spring calls it
   * while it creates the bean; while it destroys the bean there are no locks any more.
   */
  public LifecycleMethodCheck(AdviceMode mode) {
    this.mode = mode;
  }

  /** What guards methods, as was decided when the beans were defined. */
  public AdviceMode mode() {
    return mode;
  }

  @Override
  public int getOrder() {
    return LOWEST_PRECEDENCE;
  }

  /**
   * Looks at the bean's methods.
   *
   * @throws GuardedMethodException if Spring would call a guarded one without its lock
   */
  @Override
  public void postProcessMergedBeanDefinition(
      RootBeanDefinition definition, Class<?> beanType, String beanName) {
    Class<?> type = ClassUtils.getUserClass(beanType);
    if (!GuardScanner.mayBeGuarded(type)) {
      return;
    }
    Set<Member> injected = definition.getExternallyManagedConfigMembers();
    Set<String> creating =
        names(definition.getInitMethodNames(), definition.getExternallyManagedInitMethods());
    Set<String> destroying =
        names(definition.getDestroyMethodNames(), definition.getExternallyManagedDestroyMethods());
    if (InitializingBean.class.isAssignableFrom(type)) {
      creating.add("afterPropertiesSet");
    }
    if (DisposableBean.class.isAssignableFrom(type)) {
      destroying.add("destroy");
    }
    boolean closed = isClosed(definition, type);
    for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
      // Who annotates a class does not mean its setters.
      boolean isInjected = injected.contains(method) && !GuardAnnotations.isByClass(method);
      if (isInjected || isOneOf(creating, method)) {
        refuseIfGuarded(method, type, Moment.CREATION);
      } else if (isOneOf(destroying, method)
          || (closed && isCloser(method, type) && !GuardAnnotations.isByClass(method))) {
        refuseIfGuarded(method, type, Moment.DESTRUCTION);
      }
    }
  }

  /** The names of the methods. Private methods are listed with their class. */
  private static Set<String> names(String @Nullable [] declared, Set<String> found) {
    Set<String> names = new HashSet<>();
    found.forEach(name -> names.add(name.substring(name.lastIndexOf('.') + 1)));
    if (declared != null) {
      names.addAll(Arrays.asList(declared));
    }
    return names;
  }

  /** Whether Spring calls a method at the end that nobody named. */
  private static boolean isClosed(RootBeanDefinition definition, Class<?> type) {
    String name = definition.getDestroyMethodName();
    return name == null
        ? AutoCloseable.class.isAssignableFrom(type)
        : name.equals(AbstractBeanDefinition.INFER_METHOD);
  }

  private static boolean isCloser(Method method, Class<?> type) {
    return ClassUtils.hasMethod(type, "close")
        ? isOneOf(Set.of("close"), method)
        : isOneOf(Set.of("shutdown"), method);
  }

  private static boolean isOneOf(Set<String> names, Method method) {
    return method.getParameterCount() == 0 && names.contains(method.getName());
  }

  private void refuseIfGuarded(Method method, Class<?> type, Moment moment) {
    DeclaredMethod declared = DeclaredMethod.of(method, type);
    if (!declared.isGuarded()) {
      return;
    }
    String where = type.getName() + "." + method.getName() + "()";
    if (mode == AdviceMode.ASPECTJ && moment == Moment.CREATION) {
      if (!WovenMethods.isWoven(declared.method())) {
        throw WovenBeans.notWoven(
            "a guarded method that Spring calls while it creates the bean is not woven",
            List.of(where));
      }
    } else {
      throw new GuardedMethodException(
          "%s cannot be guarded by a lock: %sSpring calls it %s, %s: %s%s"
              .formatted(
                  where,
                  GuardAnnotations.isByClass(declared.method())
                      ? "the annotation is on the class, and "
                      : "",
                  moment.time,
                  mode == AdviceMode.ASPECTJ
                      ? "when the locks are closed"
                      : "on the object itself and not through the proxy",
                  GuardAnnotations.isByClass(declared.method())
                      ? "annotate the other methods instead; if it needs the lock, "
                      : "",
                  moment.remedy));
    }
  }
}
