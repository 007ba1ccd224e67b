package io.amqplocks.spring.internal.leader;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LeaderOnly;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * The methods that only a leader runs, of all beans. Refuses those on which the annotation would do
 * nothing, or lose messages.
 */
public final class LeaderOnlyMethods implements BeanPostProcessor {

  /** Who calls a method so annotated takes its return for success, or calls it past the proxy. */
  private static final List<String> NOT_WITH =
      List.of("Listener", "Handler", "PostConstruct", "PreDestroy", "ServiceActivator");

  private static final Set<String> HARMLESS = Set.of("EventListener");

  private final Function<String, @Nullable String> placeholders;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Map<String, String> listeners = new ConcurrentHashMap<>();

  /** Methods whose names are resolved by that. */
  public LeaderOnlyMethods(Function<String, @Nullable String> placeholders) {
    this.placeholders = placeholders;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    Class<?> type = AopUtils.getTargetClass(bean);
    if (AnnotationUtils.isCandidateClass(type, LeaderOnly.class)) {
      Map<Method, LeaderOnly> found =
          MethodIntrospector.selectMethods(type, LeaderOnlyMethods::annotation);
      found.forEach((method, only) -> add(method, only, AopUtils.isAopProxy(bean)));
    }
    return bean;
  }

  private static @Nullable LeaderOnly annotation(Method method) {
    return AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
  }

  private void add(Method method, LeaderOnly only, boolean proxied) {
    refuseUncalled(method, proxied);
    if (method.getReturnType() != void.class) {
      throw refused(method, "it returns " + method.getReturnType().getSimpleName(), "return void");
    }
    RabbitListener listener =
        AnnotatedElementUtils.findMergedAnnotation(method, RabbitListener.class);
    if (listener == null) {
      refuseOtherCallers(method);
    } else {
      addListener(method, listener, resolved(only.value()));
    }
    names.add(resolved(only.value()));
  }

  private static void refuseUncalled(Method method, boolean proxied) {
    for (int unproxied : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
      if ((method.getModifiers() & unproxied) != 0) {
        String word = Modifier.toString(unproxied);
        throw refused(
            method,
            "it is " + word + ", so calls do not go through the proxy",
            "take '" + word + "' away, or move it to another bean");
      }
    }
    if (!proxied) {
      throw refused(
          method,
          "its bean has no proxy",
          "let the class not be final, and the bean be created after the infrastructure of Spring");
    }
  }

  private static void refuseOtherCallers(Method method) {
    for (Annotation annotation : method.getAnnotations()) {
      String name = annotation.annotationType().getSimpleName();
      if (NOT_WITH.stream().anyMatch(name::endsWith) && !HARMLESS.contains(name)) {
        throw refused(
            method,
            "it is annotated with @" + name + " too, and a call that does nothing counts as done",
            "ask LeaderElection.isLeader() in the method and decide what to do if it is false");
      }
    }
  }

  private void addListener(Method method, RabbitListener listener, String name) {
    String id = resolved(listener.id());
    if (id.isEmpty() || !"false".equals(resolved(listener.autoStartup()))) {
      throw refused(
          method,
          "its @RabbitListener starts by itself",
          "give it an id and autoStartup = \"false\"; it is started when this process leads");
    }
    listeners.put(id, name);
  }

  private String resolved(String text) {
    String value = placeholders.apply(text);
    return value == null ? "" : value;
  }

  private static GuardedMethodException refused(Method method, String why, String remedy) {
    return new GuardedMethodException(
        "%s.%s() cannot be @LeaderOnly: %s; %s"
            .formatted(method.getDeclaringClass().getName(), method.getName(), why, remedy));
  }

  /** The name by which that method's leader is elected; null if anybody may run it. */
  @Nullable String nameFor(Method method, @Nullable Object target) {
    Class<?> type = target == null ? method.getDeclaringClass() : target.getClass();
    LeaderOnly only = annotation(AopUtils.getMostSpecificMethod(method, type));
    return only == null ? null : resolved(only.value());
  }

  /** All names so far. */
  Set<String> names() {
    return Set.copyOf(names);
  }

  /** The names of elections by the ids of their listeners. */
  Map<String, String> listeners() {
    return Map.copyOf(listeners);
  }
}
