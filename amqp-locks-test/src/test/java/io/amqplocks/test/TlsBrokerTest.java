package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TlsBrokerTest {

  private static final Duration LONG = Duration.ofMinutes(3);

  /** Starts a broker, tells where its keys are, and waits. */
  static final class Owner {

    @SuppressWarnings("resource") // That is the point.
    public static void main(String[] args) throws IOException {
      System.out.println("key " + TlsBroker.start().key());
      System.in.read();
    }
  }

  @Test
  void noKeyOutlivesAKilledJvm() {
    assumeThat(new LocalSource(System.getenv()).lines())
        .as("a rabbitmq-server on this machine")
        .isNotEmpty();
    try (ChildJvm owner = ChildJvm.of(Owner.class).env("AMQP_LOCKS_BROKER_URI", "").start()) {
      Path key = Path.of(owner.awaitLine("key ", LONG).substring(4));
      assertThat(key).exists();
      owner.killNow();
      await().atMost(LONG).until(() -> !Files.exists(key));
    }
  }

  @Test
  void theTlsPortTakesNeitherPlainClientsNorStrangers() throws Exception {
    try (TlsBroker broker = TlsBroker.start()) {
      try (Connection plain = broker.broker().connectionFactory().newConnection()) {
        assertThat(plain.isOpen()).isTrue();
      }
      ConnectionFactory factory = broker.broker().connectionFactory();
      factory.setPort(broker.tlsPort());
      assertThatExceptionOfType(Exception.class).isThrownBy(factory::newConnection);
      factory.useSslProtocol(); // trusts everybody, and has no certificate
      assertThatExceptionOfType(IOException.class).isThrownBy(factory::newConnection);
      assertThat(broker.authority()).exists();
      broker.close();
      assertThat(broker.authority()).doesNotExist();
    }
  }
}
