package io.amqplocks.spring;

import io.amqplocks.AmqpLocksBuilder;

/**
 * Customizes the application's locks after properties have been applied. Define a bean of this
 * type.
 */
@FunctionalInterface
public interface AmqpLocksCustomizer {

  /** Customizes the builder. */
  void customize(AmqpLocksBuilder builder);
}
