package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockConfigurationException;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Whether there are locks, by {@code amqp-locks.enabled}. The property is read as all others are:
 * {@code off} is false, and what is no boolean ends the start. Spring Boot's own condition would
 * take such words for neither true nor false. Then nothing would guard, and nothing would say so.
 */
abstract class EnabledCondition extends SpringBootCondition {

  private static final String PROPERTY = "amqp-locks.enabled";

  private final boolean wanted;

  EnabledCondition(boolean wanted) {
    this.wanted = wanted;
  }

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    boolean enabled = isEnabled(context.getEnvironment());
    return new ConditionOutcome(
        enabled == wanted, ConditionMessage.forCondition(PROPERTY).because("it is " + enabled));
  }

  /**
   * Whether there are.
   *
   * @throws LockConfigurationException if the property is there, and empty
   */
  static boolean isEnabled(Environment environment) {
    Binder properties = Binder.get(environment);
    if (properties.bind(PROPERTY, String.class).map(String::isBlank).orElse(false)) {
      throw new LockConfigurationException(
          "The property %s is empty.".formatted(PROPERTY), "Say true or false, or remove it.");
    }
    return properties.bind(PROPERTY, Boolean.class).orElse(true);
  }

  /**
   * Sees to it that the locks are still disabled, as they were when this condition was evaluated.
   * If the application was processed ahead of time, that was then.
   *
   * @throws LockConfigurationException if they are not; nothing would guard, though the property
   *     says so
   */
  static void requireDisabled(Environment environment) {
    if (isEnabled(environment)) {
      throw new LockConfigurationException(
          "The property %s is not false, and it was when the application was processed ahead of time."
              .formatted(PROPERTY),
          "Process it with the property that it runs with.");
    }
  }

  /** There are. */
  static final class Enabled extends EnabledCondition {
    Enabled() {
      super(true);
    }
  }

  /** All runs without locks. */
  static final class Disabled extends EnabledCondition {
    Disabled() {
      super(false);
    }
  }
}
