package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/**
 * A method where it was written, which has its annotations and the names of its parameters: in the
 * class of the bean, or in an interface, if the bean was made from that. Clients of HTTP interfaces
 * and of Feign, repositories of Spring Data and mappers of MyBatis are JDK proxies; what a lambda
 * is made from is an interface too. Their classes are generated, and say nothing about them.
 *
 * @param method the method
 * @param type the class or the interface by which the method is judged; it may inherit the method
 */
public record DeclaredMethod(Method method, Class<?> type) {

  /** The method that a call of that one on an object of that class means. */
  public static DeclaredMethod of(Method method, Class<?> targetClass) {
    Class<?> type = ClassUtils.getUserClass(targetClass);
    return isMadeFromInterface(type)
        ? ofInterface(method, type)
        : new DeclaredMethod(AopUtils.getMostSpecificMethod(method, type), type);
  }

  /**
   * Whether its objects are made from interfaces, so that it is final and can be proxied anyway.
   */
  public static boolean isMadeFromInterface(Class<?> type) {
    return Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
  }

  /** The annotated one, if several interfaces declare it; else that of the first interface. */
  private static DeclaredMethod ofInterface(Method method, Class<?> made) {
    List<DeclaredMethod> declared =
        Arrays.stream(made.getInterfaces())
            .flatMap(type -> Stream.ofNullable(in(type, method)))
            .toList();
    return declared.stream()
        .filter(DeclaredMethod::isGuarded)
        .findFirst()
        .or(() -> declared.stream().findFirst())
        .orElseGet(() -> new DeclaredMethod(method, method.getDeclaringClass()));
  }

  private static @Nullable DeclaredMethod in(Class<?> type, Method method) {
    Method found =
        ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
    return found == null
        ? null
        : new DeclaredMethod(BridgeMethodResolver.findBridgedMethod(found), type);
  }

  /** Whether annotations of locks count for it. */
  public boolean isGuarded() {
    return GuardAnnotations.isGuarded(method, type);
  }

  public MethodClassKey key() {
    return new MethodClassKey(method, type);
  }
}
