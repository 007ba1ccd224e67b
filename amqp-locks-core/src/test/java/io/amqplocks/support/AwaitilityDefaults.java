package io.amqplocks.support;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.Extension;

/**
 * How long tests wait for what must come, if they do not say: far longer than a machine stalls.
 * JUnit finds this by {@code META-INF/services}, and makes one before the first test. So it holds
 * for tests without a {@link Fixture} too, whatever their order.
 */
public final class AwaitilityDefaults implements Extension {

  public AwaitilityDefaults() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }
}
