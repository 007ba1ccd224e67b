package io.amqplocks.spring;

import io.amqplocks.AmqpLocksBuilder;

/** A bean that has the last word on how the application's locks are built. */
@FunctionalInterface
public interface AmqpLocksCustomizer {

  /** Changes what the properties made of the builder. */
  void customize(AmqpLocksBuilder builder);
}
