package io.amqplocks.spring.internal.health;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * UNKNOWN, since there is nothing to be healthy, with the detail {@code enabled: false}. It makes
 * no application unhealthy.
 */
public final class DisabledHealthIndicator extends AbstractHealthIndicator {

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    builder.unknown().withDetail("enabled", false);
  }
}
