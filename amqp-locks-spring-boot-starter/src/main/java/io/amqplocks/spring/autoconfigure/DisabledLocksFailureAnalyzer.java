package io.amqplocks.spring.autoconfigure;

import io.amqplocks.AmqpLocks;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Says why there is no {@link AmqpLocks} while locks are disabled. Spring Boot's own analyzer would
 * advise to define one.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class DisabledLocksFailureAnalyzer
    extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {

  private final Environment environment;

  DisabledLocksFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, NoSuchBeanDefinitionException cause) {
    if (!AmqpLocks.class.equals(cause.getBeanType()) || EnabledCondition.isEnabled(environment)) {
      return null;
    }
    return new FailureAnalysis(
        "A bean needs AmqpLocks, and there is none while amqp-locks.enabled is false: "
            + rootFailure.getMessage(),
        "Inject LockTemplate or a LockHandle, which work without locks too; or an"
            + " ObjectProvider<AmqpLocks>; or remove amqp-locks.enabled=false.",
        cause);
  }
}
