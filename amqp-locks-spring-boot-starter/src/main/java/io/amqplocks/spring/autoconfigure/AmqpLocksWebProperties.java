package io.amqplocks.spring.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of answers to web requests.
 *
 * @param problemDetails Whether requests whose lock is busy, or whose broker is away, are answered
 *     by problem details with the status 429 or 503.
 * @param retryAfter After what time such an answer asks the client to try again, in full seconds.
 */
@ConfigurationProperties("amqp-locks.web")
public record AmqpLocksWebProperties(
    @DefaultValue("true") boolean problemDetails, @DefaultValue("1s") Duration retryAfter) {

  /** Checks the time. */
  public AmqpLocksWebProperties {
    if (retryAfter.isNegative()) {
      throw new IllegalArgumentException(
          "amqp-locks.web.retry-after must not be negative, and is " + retryAfter);
    }
  }
}
