package io.amqplocks.test;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Where a broker answers.
 *
 * @param uri the AMQP URI with user, password and virtual host
 */
record Address(String uri) {

  private static final int TIMEOUT_MILLIS = 5_000;

  /** For a busy machine. The client waits half of it for each of a handshake's two steps. */
  private static final int PATIENCE_MILLIS = 30_000;

  static Address of(String host, int port) {
    return new Address("amqp://guest:guest@" + host + ":" + port + "/%2f");
  }

  ConnectionFactory connectionFactory() {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      factory.setUri(uri);
    } catch (URISyntaxException | GeneralSecurityException | IllegalArgumentException wrong) {
      // Neither the URI nor the cause, which quotes it: there is a password in it.
      throw new IllegalArgumentException(
          "Not an AMQP URI such as amqp://user:password@host:5672/vhost; a special character in the"
              + " user or the password must be escaped");
    }
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    factory.setConnectionTimeout(TIMEOUT_MILLIS);
    factory.setHandshakeTimeout(PATIENCE_MILLIS);
    factory.setChannelRpcTimeout(PATIENCE_MILLIS);
    return factory;
  }

  /**
   * Connects, until that works or the time is over, and reads the version.
   *
   * @throws IllegalStateException if nobody answered in time
   */
  BrokerVersion awaitVersion(Duration timeout) {
    long end = System.nanoTime() + timeout.toNanos();
    ConnectionFactory factory = connectionFactory();
    factory.setHandshakeTimeout(TIMEOUT_MILLIS);
    @Nullable Exception last = null;
    do {
      try (Connection connection = factory.newConnection("amqp-locks-test")) {
        Object version = connection.getServerProperties().get("version");
        return BrokerVersion.parse(String.valueOf(version));
      } catch (IOException | TimeoutException notYet) {
        last = notYet;
        pause();
      }
    } while (System.nanoTime() - end < 0);
    throw new IllegalStateException("No broker answers at " + withoutPassword(), last);
  }

  String withoutPassword() {
    ConnectionFactory factory = connectionFactory();
    return factory.getHost() + ":" + factory.getPort();
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for a broker", interrupted);
    }
  }
}
