package io.amqplocks.sample.kubernetes;

import io.amqplocks.spring.autoconfigure.AmqpLocksProperties;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** What the sample is set to in a container, by {@code container.yml} and its variables. */
final class ContainerSettings {

  /** What Boot knows Kubernetes by. The kubelet gives them to each container. */
  static final Map<String, String> OF_EVERY_POD =
      Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1", "KUBERNETES_SERVICE_PORT", "443");

  /** What Spring waits for, one after the other: listeners, requests, scheduled tasks. */
  private static final int PHASES = 3;

  /** What elections wait for the broker, and then the locks' connections, two call timeouts. */
  private static final Duration CLOSING = Duration.ofSeconds(10 + 2 * 5);

  private final StandardEnvironment environment = new StandardEnvironment();

  private ContainerSettings(Map<String, String> variables) {
    environment
        .getPropertySources()
        .replace(
            StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
            new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                new HashMap<>(variables)));
    ConfigDataEnvironmentPostProcessor.applyTo(environment);
  }

  /** In a pod with these variables. */
  static ContainerSettings inPod(Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(variables);
    all.putAll(OF_EVERY_POD);
    return new ContainerSettings(all);
  }

  /** In a container of Compose with these variables. */
  static ContainerSettings inCompose(Map<String, String> variables) {
    return new ContainerSettings(variables);
  }

  /** A property; null if it is not set. */
  @Nullable String get(String property) {
    return environment.getProperty(property);
  }

  /** How long the application may take to end after a SIGTERM, by its own settings. */
  Duration longestShutdown() {
    Binder binder = Binder.get(environment);
    Duration phase =
        binder
            .bindOrCreate("spring.lifecycle", LifecycleProperties.class)
            .getTimeoutPerShutdownPhase();
    Duration locks = binder.bindOrCreate("amqp-locks", AmqpLocksProperties.class).shutdownTimeout();
    return phase.multipliedBy(PHASES).plus(locks).plus(CLOSING);
  }
}
