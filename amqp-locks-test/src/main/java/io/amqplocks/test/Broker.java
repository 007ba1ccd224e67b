package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;

/**
 * A RabbitMQ broker that a test may use and, through {@link #faults()}, hurt.
 *
 * <p>It has the user {@code guest} with password {@code guest} and the virtual host {@code /},
 * unless it is an external one ({@code AMQP_LOCKS_BROKER_URI}), which has what its URI says.
 * Address and version stay the same for the life of the object, also when the broker restarts.
 */
public interface Broker {

  /** The AMQP URI with user, password and virtual host, for instance {@code
   * amqp://guest:guest@127.0.0.1:25672/%2f}. */
  String uri();

  /** The host to connect to. */
  String host();

  /** The AMQP port. */
  int port();

  /** The product: {@code RabbitMQ}, or {@code Apache Qpid Broker-J} for the one in this JVM. */
  default String product() {
    return "RabbitMQ";
  }

  /** The version, as the broker itself told a client in its server properties. */
  BrokerVersion version();

  /**
   * A new connection factory for this broker. Automatic and topology recovery are off. Connecting
   * times out after 5 seconds, the handshake and calls on channels after up to 30. The caller may
   * change all of it.
   */
  ConnectionFactory connectionFactory();

  /**
   * The ways to hurt this broker.
   *
   * @throws org.opentest4j.TestAbortedException if this is an external broker, which nobody may
   *     hurt: a JUnit test that asks is reported as skipped, with the reason
   */
  BrokerFaults faults();
}
