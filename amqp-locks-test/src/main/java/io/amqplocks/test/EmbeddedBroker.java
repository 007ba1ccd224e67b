package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.IntSupplier;
import org.apache.qpid.server.SystemLauncher;
import org.apache.qpid.server.SystemLauncherListener;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Apache Qpid Broker-J in this JVM, on 127.0.0.1 with a port of its own. It keeps everything in
 * memory, and other processes may use it as well.
 */
final class EmbeddedBroker implements OwnedBroker {

  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedBroker.class);

  private static final Duration ANSWER = Duration.ofSeconds(20);

  private final SystemLauncher launcher;
  private final Address address;
  private final BrokerVersion version;

  private EmbeddedBroker(SystemLauncher launcher, Address address, BrokerVersion version) {
    this.launcher = launcher;
    this.address = address;
    this.version = version;
  }

  static EmbeddedBroker start() {
    return start(FreePorts::next);
  }

  /** On the first of those ports that nobody has taken meanwhile. */
  static EmbeddedBroker start(IntSupplier ports) {
    return FreePorts.retryIfTaken(() -> start(ports.getAsInt()));
  }

  private static EmbeddedBroker start(int port) {
    StartupFailure failure = new StartupFailure();
    SystemLauncher launcher = new SystemLauncher(failure);
    try {
      Path configuration = Files.createTempFile("amqp-locks-embedded-", ".json");
      try {
        Files.writeString(
            configuration, Resources.text("embedded.json").replace("PORT", String.valueOf(port)));
        launcher.startup(
            Map.of(
                "type",
                "Memory",
                "initialConfigurationLocation",
                configuration.toUri().toString(),
                "startupLoggedToSystemOut",
                false));
      } finally {
        Files.delete(configuration);
      }
      // By embedded.json's context a taken port is a failure. Else Qpid would do without it, and
      // whoever listens there would answer in its place.
      failure.rethrow();
      Address address = Address.of("127.0.0.1", port);
      return new EmbeddedBroker(launcher, address, address.awaitVersion(ANSWER));
    } catch (IOException failed) {
      launcher.shutdown();
      throw new UncheckedIOException("Cannot configure the broker in this JVM", failed);
    } catch (Exception failed) {
      // The launcher declares no narrower one.
      launcher.shutdown();
      throw new IllegalStateException(
          "The broker in this JVM did not start at port " + port + FreePorts.whyNot(port), failed);
    }
  }

  /** The launcher does not throw what ends a start: it tells a listener. */
  private static final class StartupFailure
      extends SystemLauncherListener.DefaultSystemLauncherListener {

    private volatile @Nullable RuntimeException thrown;

    @Override
    public void errorOnStartup(RuntimeException failed) {
      thrown = failed;
    }

    void rethrow() {
      RuntimeException failed = thrown;
      if (failed != null) {
        throw failed;
      }
    }
  }

  @Override
  public String uri() {
    return address.uri();
  }

  @Override
  public String host() {
    return connectionFactory().getHost();
  }

  @Override
  public int port() {
    return connectionFactory().getPort();
  }

  @Override
  public String product() {
    return "Apache Qpid Broker-J";
  }

  @Override
  public BrokerVersion version() {
    return version;
  }

  @Override
  public ConnectionFactory connectionFactory() {
    return address.connectionFactory();
  }

  @Override
  public BrokerFaults faults() {
    throw new TestAbortedException("The broker in this JVM cannot be hurt; that takes RabbitMQ");
  }

  /** If the JVM ends, the broker's own shutdown hook may be first, and then nothing is left. */
  @Override
  public void close() {
    try {
      launcher.shutdown();
    } catch (IllegalStateException closed) {
      LOG.debug("{} ended by itself", this, closed);
    }
  }

  @Override
  public String toString() {
    return product() + " " + version + " at " + address.withoutPassword();
  }
}
