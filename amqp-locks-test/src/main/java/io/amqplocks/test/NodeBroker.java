package io.amqplocks.test;

import com.rabbitmq.client.ConnectionFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A broker that was started here, and may be hurt. */
final class NodeBroker implements OwnedBroker {

  private static final Logger LOG = LoggerFactory.getLogger(NodeBroker.class);
  private static final Duration ANSWER = Duration.ofMinutes(1);

  private final Address address;
  private final BrokerVersion version;
  private final NodeControl node;
  private final BrokerFaults faults;
  private final Runnable release;
  private final Thread atExit = new Thread(this::end, "broker-close");
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Starts the node.
   *
   * @param node what to start
   * @param address where it will answer
   * @param release ends the node and what belongs to it
   */
  static NodeBroker start(NodeControl node, Address address, Runnable release) {
    long begin = System.nanoTime();
    NodeControl answering = new AnsweringNode(node, address, ANSWER);
    try {
      answering.start();
      NodeBroker broker = new NodeBroker(address, address.awaitVersion(ANSWER), answering, release);
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      LOG.info("RabbitMQ {} up after {} ms", broker.version, took.toMillis());
      return broker;
    } catch (RuntimeException failed) {
      release.run();
      throw failed;
    }
  }

  private NodeBroker(Address address, BrokerVersion version, NodeControl node, Runnable release) {
    this.address = address;
    this.version = version;
    this.node = node;
    this.faults = new NodeFaults(node);
    this.release = release;
    Runtime.getRuntime().addShutdownHook(atExit);
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
  public BrokerVersion version() {
    return version;
  }

  @Override
  public ConnectionFactory connectionFactory() {
    return address.connectionFactory();
  }

  @Override
  public BrokerFaults faults() {
    return faults;
  }

  @Override
  public Optional<ProcessHandle> process() {
    return node.process();
  }

  /** This broker for one of several who share it: none may hurt it as a whole. */
  Broker share() {
    return new SharedBroker(this, new SharedFaults(new NodeFaults(node)));
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException exiting) {
      // Then the hook runs, and finds nothing to do.
    }
  }

  private void end() {
    if (closed.compareAndSet(false, true)) {
      release.run();
    }
  }

  @Override
  public String toString() {
    return "RabbitMQ " + version + " at " + address.withoutPassword();
  }
}
