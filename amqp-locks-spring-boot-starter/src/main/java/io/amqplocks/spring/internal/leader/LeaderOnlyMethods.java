package io.amqplocks.spring.internal.leader;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.internal.guard.declared.UnguardableMethod;
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
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * The methods that only a leader runs, of all beans. Refuses those on which the annotation would do
 * nothing, or lose messages.
 */
public final class LeaderOnlyMethods implements BeanPostProcessor {

  /** Callers of such methods take a return for success, or call them past the proxy. */
  private static final List<String> NOT_WITH =
      List.of(
          "Listener",
          "Listeners",
          "Handler",
          "MessageMapping",
          "PostConstruct",
          "PreDestroy",
          "ServiceActivator");

  private static final Set<String> HARMLESS =
      Set.of("EventListener", "TransactionalEventListener", "ApplicationModuleListener");

  /** By class: each new bean of a scope comes here, and to look at all its methods takes time. */
  private final ClassValue<Map<Method, LeaderOnly>> found =
      new ClassValue<>() {
        @Override
        protected Map<Method, LeaderOnly> computeValue(Class<?> type) {
          return search.apply(type);
        }
      };

  private final Function<String, @Nullable String> placeholders;
  private final Function<Class<?>, Map<Method, LeaderOnly>> search;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private final Set<String> proxies = ConcurrentHashMap.newKeySet();
  private final Map<String, String> listeners = new ConcurrentHashMap<>();
  private volatile boolean late;

  /** Methods whose names are resolved by that. */
  public LeaderOnlyMethods(Function<String, @Nullable String> placeholders) {
    this(placeholders, LeaderOnlyMethods::annotated);
  }

  LeaderOnlyMethods(
      Function<String, @Nullable String> placeholders,
      Function<Class<?>, Map<Method, LeaderOnly>> search) {
    this.placeholders = placeholders;
    this.search = search;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    Class<?> type = AopUtils.getTargetClass(bean);
    if (AnnotationUtils.isCandidateClass(type, LeaderOnly.class)) {
      boolean proxied = AopUtils.isAopProxy(bean) || proxies.contains(beanName);
      found.get(type).forEach((method, only) -> add(method, type, only, proxied));
    }
    return bean;
  }

  /**
   * A proxy of that bean is made, for calls of such methods. If another bean needed it early, the
   * bean itself comes by here, and Spring puts the proxy in its place later.
   */
  void proxies(String bean) {
    proxies.add(bean);
  }

  static Map<Method, LeaderOnly> annotated(Class<?> type) {
    return MethodIntrospector.selectMethods(
        type, (MetadataLookup<LeaderOnly>) LeaderOnlyMethods::annotation);
  }

  private static @Nullable LeaderOnly annotation(Method method) {
    return AnnotatedElementUtils.findMergedAnnotation(method, LeaderOnly.class);
  }

  private void add(Method method, Class<?> type, LeaderOnly only, boolean proxied) {
    boolean listens = AnnotatedElementUtils.hasAnnotation(method, RabbitListener.class);
    // A listener's calls are not intercepted, so its bean needs no proxy.
    refuseUncalled(method, type, proxied, listens);
    if (method.getReturnType() != void.class) {
      throw refused(method, "it returns " + method.getReturnType().getSimpleName(), "return void");
    }
    List<RabbitListener> own =
        List.copyOf(
            AnnotatedElementUtils.findMergedRepeatableAnnotations(method, RabbitListener.class));
    if (own.size() > 1) {
      throw refused(
          method, "it has several @RabbitListener", "let one of them have all queues, or ids");
    }
    if (own.isEmpty()) {
      refuseOtherCallers(method);
    } else {
      addListener(method, own.get(0), resolved(only.value()));
    }
    names.add(resolved(only.value()));
  }

  private static void refuseUncalled(
      Method method, Class<?> type, boolean proxied, boolean listens) {
    for (int unproxied : new int[] {Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL}) {
      if ((method.getModifiers() & unproxied) != 0) {
        String word = Modifier.toString(unproxied);
        throw refused(
            method,
            "it is " + word + ", so calls do not go through the proxy",
            "take '" + word + "' away, or move it to another bean");
      }
    }
    if (!listens && UnguardableMethod.isOfAnotherPackage(method, type)) {
      throw refused(
          method,
          "it is package-private and "
              + type.getSimpleName()
              + " of another package inherits it, so calls do not go through the proxy",
          "make it protected or public");
    }
    if (!proxied && !listens) {
      throw refused(
          method,
          "its bean has no proxy",
          "let the class not be final, and the bean be created after the infrastructure of Spring");
    }
  }

  private static void refuseOtherCallers(Method method) {
    // With those of overridden methods and of the annotations themselves.
    MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).stream()
        .map(annotation -> annotation.getType().getSimpleName())
        .filter(name -> NOT_WITH.stream().anyMatch(name::endsWith))
        .findFirst()
        .filter(name -> HARMLESS.stream().noneMatch(each -> hasAnnotation(method, each)))
        .ifPresent(
            name -> {
              throw refused(
                  method,
                  "it is annotated with @"
                      + name
                      + " too, and a call that does nothing counts as done",
                  "ask LeaderElection.isLeader() in the method and decide what to do if it is false");
            });
    if (method.getName().equals("onMessage")) {
      throw refused(
          method,
          "it looks like a listener's, whose messages would be lost",
          "let a LifecycleLeaderListener start and stop its container");
    }
  }

  private static boolean hasAnnotation(Method method, String name) {
    return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).stream()
        .anyMatch(annotation -> annotation.getType().getSimpleName().equals(name));
  }

  private void addListener(Method method, RabbitListener listener, String name) {
    String id = resolved(listener.id());
    if (id.isEmpty() || !"false".equals(resolved(listener.autoStartup()))) {
      throw refused(
          method,
          "its @RabbitListener starts by itself",
          "give it an id and autoStartup = \"false\"; it is started when this process leads");
    }
    if (late) {
      // Spring has started its container already, whatever it says of its start.
      throw refused(
          method,
          "its bean was created after the application had started",
          "take @Lazy away, and spring.main.lazy-initialization from this bean");
    }
    listeners.put(id, name);
  }

  /** From now on it is too late for listeners. */
  void begin() {
    late = true;
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
