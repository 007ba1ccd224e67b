package io.amqplocks.spring.autoconfigure;

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

  private final AdviceMode mode;

  AdviceModeCondition(AdviceMode mode) {
    this.mode = mode;
  }

  @Override
  public boolean matches(ConditionContext context, AnnotatedTypeMetadata annotated) {
    return of(context.getEnvironment()) == mode;
  }

  private static AdviceMode of(Environment environment) {
    return Binder.get(environment)
        .bind("amqp-locks.annotations.mode", AdviceMode.class)
        .orElse(AdviceMode.PROXY);
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
