package io.amqplocks.spring.autoconfigure;

import java.time.Duration;
import java.util.Set;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the endpoint.
 *
 * @param showValues When to show fencing tokens.
 * @param roles Roles that may see fencing tokens, if they are shown to authorized users. All
 *     authenticated users, if empty.
 * @param timeout How long one request waits for the broker, whatever number of locks it is about.
 */
@ConfigurationProperties("management.endpoint.amqplocks")
public record AmqpLocksEndpointProperties(
    @DefaultValue("never") Show showValues,
    @DefaultValue Set<String> roles,
    @DefaultValue("3s") Duration timeout) {

  /** Checks the bound. */
  public AmqpLocksEndpointProperties {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException(
          "management.endpoint.amqplocks.timeout must be more than nothing, and not " + timeout);
    }
    roles = Set.copyOf(roles);
  }
}
