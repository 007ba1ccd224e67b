package io.amqplocks.inmemory.autoconfigure;

import io.amqplocks.AmqpLocks;
import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.inmemory.InMemoryLocksBuilder;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Locks in memory in place of those at a broker, if {@code amqp-locks.mode} is {@code in-memory}.
 * The starter takes them for all that it does: annotations, {@code LockTemplate}, events, health
 * and metrics. Settings of the connection have no effect, nor has an {@code AmqpLocksCustomizer}. A
 * bean of the application's own that is an {@link AmqpLocks} goes first.
 */
@AutoConfiguration(beforeName = "io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration")
@Conditional(InMemoryLocksAutoConfiguration.OnInMemoryMode.class)
public final class InMemoryLocksAutoConfiguration {

  private static final Logger log = LoggerFactory.getLogger(InMemoryLocksAutoConfiguration.class);

  private static final String ENABLED = "amqp-locks.enabled";
  private static final String MODE = "amqp-locks.mode";

  @Bean
  @ConditionalOnMissingBean(AmqpLocks.class)
  InMemoryLocks amqpLocks(
      ObjectProvider<LockListener> listeners, ObjectProvider<LockObserver> observers) {
    log.warn(
        "The locks are in the memory of this process, for tests: no other process is kept out"
            + " ({}=in-memory)",
        MODE);
    InMemoryLocksBuilder builder = InMemoryLocks.builder();
    listeners.orderedStream().forEach(builder::listener);
    observers.orderedStream().forEach(builder::observer);
    return builder.build();
  }

  /** Where the locks are. */
  enum Mode {
    BROKER,
    IN_MEMORY
  }

  /** Whether the properties say so. Another word than a mode's or a boolean's ends the start. */
  static final class OnInMemoryMode extends SpringBootCondition {

    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      Binder properties = Binder.get(context.getEnvironment());
      if (!properties.bind(ENABLED, Boolean.class).orElse(true)) {
        return ConditionOutcome.noMatch(
            ConditionMessage.forCondition(ENABLED).because("it is false"));
      }
      Mode mode = properties.bind(MODE, Mode.class).orElse(Mode.BROKER);
      return new ConditionOutcome(
          mode == Mode.IN_MEMORY, ConditionMessage.forCondition(MODE).because("it is " + mode));
    }
  }
}
