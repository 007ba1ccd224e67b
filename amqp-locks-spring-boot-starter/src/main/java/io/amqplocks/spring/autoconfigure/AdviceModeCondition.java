package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockConfigurationException;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * What guards annotated methods, by {@code amqp-locks.annotations.mode}, read as properties are.
 */
abstract class AdviceModeCondition implements Condition {

  private static final String PROPERTY = "amqp-locks.annotations.mode";

  private final AdviceMode mode;

  AdviceModeCondition(AdviceMode mode) {
    this.mode = mode;
  }

  @Override
  public boolean matches(ConditionContext context, AnnotatedTypeMetadata annotated) {
    return of(context.getEnvironment()) == mode;
  }

  private static AdviceMode of(Environment environment) {
    return configured(environment).orElse(AdviceMode.PROXY);
  }

  private static BindResult<AdviceMode> configured(Environment environment) {
    return Binder.get(environment).bind(PROPERTY, AdviceMode.class);
  }

  /**
   * Sees to it that the property is what it was when this condition was evaluated. If the
   * application was processed ahead of time, that was then, and it may run with another one.
   *
   * @throws LockConfigurationException if it is not; nothing would guard as it says
   */
  static void require(AdviceMode decided, Environment environment) {
    BindResult<AdviceMode> configured = configured(environment);
    if (configured.isBound() && configured.get() != decided) {
      throw new LockConfigurationException(
          "The property %s is %s, and %s was decided when the application was processed ahead of time."
              .formatted(PROPERTY, configured.get(), decided),
          "Process it with the property that it runs with, or leave the property out when it runs.");
    }
  }

  /** Proxies of beans do. */
  static final class Proxy extends AdviceModeCondition {
    Proxy() {
      super(AdviceMode.PROXY);
    }
  }

  /** What AspectJ has woven does. */
  static final class Aspectj extends AdviceModeCondition {
    Aspectj() {
      super(AdviceMode.ASPECTJ);
    }
  }
}
