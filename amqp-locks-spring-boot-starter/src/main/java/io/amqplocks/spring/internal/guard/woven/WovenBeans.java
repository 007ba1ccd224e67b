package io.amqplocks.spring.internal.guard.woven;

import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.internal.guard.GuardedBeanCheck;
import io.amqplocks.spring.internal.guard.MockedBean;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.declared.GuardAnnotations;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sees to it that all guarded methods of beans are woven, where no proxy guards them. */
public final class WovenBeans implements GuardedBeanCheck {

  private static final int SHOWN = 5;

  private final Map<String, String> missing = new LinkedHashMap<>();
  private boolean anyWoven;

  @Override
  public void check(String name, Class<?> type, Set<Method> guarded, @Nullable Object bean) {
    for (Method method : guarded) {
      DeclaredMethod declared = DeclaredMethod.of(method, type);
      if (WovenMethods.isWoven(declared.method())) {
        anyWoven = true;
      } else if (bean == null || !MockedBean.is(bean)) {
        missing.put(described(declared), reason(declared));
      }
    }
  }

  /** The method with its parameters, because an overload may be woven. */
  private static String described(DeclaredMethod declared) {
    Method method = declared.method();
    return declared.type().getName()
        + Arrays.stream(method.getParameterTypes())
            .map(Class::getSimpleName)
            .collect(Collectors.joining(", ", "." + method.getName() + "(", ")"));
  }

  private static String reason(DeclaredMethod declared) {
    Method method = declared.method();
    if (Modifier.isAbstract(method.getModifiers())) {
      return "its code is generated when the application runs, where nothing is woven: call it from a"
          + " guarded method of a class";
    }
    return GuardAnnotations.isVisibleToAspectJ(method)
        ? "its class is not woven"
        : "its class is not woven, or AspectJ does not see the annotation: put it on the method itself";
  }

  /** Refuses to start if one is not woven. */
  @Override
  public void complete() {
    if (missing.isEmpty()) {
      return;
    }
    List<String> lines = new ArrayList<>();
    missing.entrySet().stream()
        .limit(SHOWN)
        .forEach(
            each -> lines.add(anyWoven ? each.getKey() + ": " + each.getValue() : each.getKey()));
    if (missing.size() > SHOWN) {
      lines.add("and %d more".formatted(missing.size() - SHOWN));
    }
    throw notWoven(
        anyWoven ? "some guarded methods are not woven" : "no guarded method is woven", lines);
  }

  public static LockConfigurationException notWoven(String what, List<String> methods) {
    return new LockConfigurationException(
        "amqp-locks.annotations.mode is aspectj, and %s, so they would run without their locks:%n    %s"
            .formatted(what, String.join("%n    ".formatted(), methods)),
        "Start Java with -javaagent:/path/to/aspectjweaver.jar, and let an aop.xml of your own leave these"
            + " classes in; or weave them when they are compiled, with amqp-locks-spring-boot-starter among"
            + " the aspect libraries (docs/SPRING.md has both). Or remove amqp-locks.annotations.mode, and"
            + " Spring's proxies guard them.");
  }
}
