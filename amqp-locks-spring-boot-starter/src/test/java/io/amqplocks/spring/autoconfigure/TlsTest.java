package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.test.TlsBroker;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The locks' connections have the application's SSL bundle. */
class TlsTest {

  private static @Nullable TlsBroker broker;

  @BeforeAll
  static void start() {
    broker = TlsBroker.start();
  }

  @AfterAll
  static void close() {
    if (broker != null) {
      broker.close();
    }
  }

  private static ApplicationContextRunner application(TlsBroker broker) {
    return Contexts.withoutBroker()
        .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
        .withPropertyValues(
            "spring.rabbitmq.host=localhost",
            "spring.rabbitmq.port=" + broker.tlsPort(),
            "spring.rabbitmq.ssl.bundle=broker",
            "spring.ssl.bundle.pem.broker.truststore.certificate=file:" + broker.authority());
  }

  @Test
  void theBundlesKeyAndItsTrustAreUsed() {
    TlsBroker running = running();
    application(running)
        .withPropertyValues(
            "spring.ssl.bundle.pem.broker.keystore.certificate=file:" + running.certificate(),
            "spring.ssl.bundle.pem.broker.keystore.private-key=file:" + running.key())
        .run(
            context -> {
              context.getBean(LockTemplate.class).mutex("tls").execute(() -> {});
              assertThat(context.getBean(AmqpLocks.class).status().session())
                  .isEqualTo(Session.OPEN);
            });
  }

  @Test
  void aBundleWithoutTheClientsCertificateIsRefused() {
    application(running())
        .run(
            context ->
                assertThatExceptionOfType(LockException.class)
                    .isThrownBy(context.getBean(LockTemplate.class).mutex("tls")::acquire));
  }

  private static TlsBroker running() {
    return Objects.requireNonNull(broker);
  }
}
