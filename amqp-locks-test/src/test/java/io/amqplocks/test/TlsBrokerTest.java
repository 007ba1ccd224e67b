package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class TlsBrokerTest {

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
