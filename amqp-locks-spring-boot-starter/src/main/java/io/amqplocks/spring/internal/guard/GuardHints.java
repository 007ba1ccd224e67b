package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.internal.guard.declared.GuardAnnotations;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Tells a native image of what guarded beans need at run time that is found by its name: the
 * methods themselves, their fallbacks, the proxy of a bean that is made from an interface, and for
 * expressions the properties of their parameters.
 * Beans that an expression names, as in {@code @tenants.current()}, are for the application to
 * register.
 */
final class GuardHints implements BeanRegistrationAotProcessor {

  @Override
  public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
    Class<?> type = typeOf(bean);
    if (type == null || !GuardScanner.mayBeGuarded(type)) {
      return null;
    }
    Set<Method> guarded = GuardScanner.guardedMethods(bean.getBeanName(), type);
    return guarded.isEmpty()
        ? null
        : (generation, code) -> {
          RuntimeHints hints = generation.getRuntimeHints();
          guarded.forEach(method -> register(hints.reflection(), method, type));
          if (type.isInterface() && !type.isSealed()) {
            hints.proxies().registerJdkProxy(AopProxyUtils.completeJdkProxyInterfaces(type));
          }
        };
  }

  /** The class of the bean. If a factory makes the bean, such as a repository, its interface. */
  private static @Nullable Class<?> typeOf(RegisteredBean bean) {
    Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
    return FactoryBean.class.isAssignableFrom(type)
        ? bean.getBeanFactory().getType(bean.getBeanName(), false)
        : type;
  }

  private static void register(ReflectionHints hints, Method method, Class<?> type) {
    hints.registerMethod(method, ExecutableMode.INVOKE);
    hints.registerType(method.getDeclaringClass()); // shows whether the method is woven
    GuardAnnotations.attributes(method, type, "fallbackMethod")
        .flatMap(
            name ->
                Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                    .filter(each -> each.getName().equals(name)))
        .forEach(fallback -> hints.registerMethod(fallback, ExecutableMode.INVOKE));
    if (expressions(method, type).anyMatch(expression -> !expression.isBlank())) {
      for (Class<?> parameter : method.getParameterTypes()) {
        hints.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS);
      }
      // Also what their properties are made of, as #order.customer.id goes through.
      new BindingReflectionHintsRegistrar()
          .registerReflectionHints(hints, method.getGenericParameterTypes());
    }
  }

  private static Stream<String> expressions(Method method, Class<?> type) {
    return Stream.of("key", "permitsExpression")
        .flatMap(attribute -> GuardAnnotations.attributes(method, type, attribute));
  }
}
