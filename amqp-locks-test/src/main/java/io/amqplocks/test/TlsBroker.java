package io.amqplocks.test;

import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * A broker that answers over TLS too, and there only to clients with a certificate that its
 * authority signed. It takes a {@code rabbitmq-server} on this machine.
 *
 * <pre>{@code
 * try (TlsBroker broker = TlsBroker.start()) {
 *   connect("localhost", broker.tlsPort(), broker.authority(), broker.certificate(), broker.key());
 * }
 * }</pre>
 */
public final class TlsBroker implements AutoCloseable {

  private final Certificates certificates;
  private final OwnedBroker broker;
  private final int tlsPort;

  /**
   * Starts one of the preferred line that is on this machine.
   *
   * @throws TestAbortedException if there is none: JUnit reports the test or class as skipped
   * @throws IllegalStateException the same if {@code AMQP_LOCKS_BROKER_REQUIRED} is {@code true};
   *     or if it does not start
   */
  public static TlsBroker start() {
    Map<String, String> environment = System.getenv();
    if (!environment.getOrDefault("AMQP_LOCKS_BROKER_URI", "").isEmpty()) {
      throw new TestAbortedException(
          "A broker with TLS is started here, and AMQP_LOCKS_BROKER_URI names one");
    }
    LocalSource source = new LocalSource(environment);
    BrokerOffers offers = BrokerOffers.find(environment);
    return Stream.concat(offers.wanted().stream(), source.lines().stream())
        .flatMap(line -> source.find(line).stream())
        .findFirst()
        .map(found -> FreePorts.retryIfTaken(() -> new TlsBroker(found)))
        .orElseThrow(() -> missing(offers));
  }

  private static RuntimeException missing(BrokerOffers offers) {
    String why = "A broker with TLS takes a rabbitmq-server on this machine";
    return offers.required() ? new IllegalStateException(why) : new TestAbortedException(why);
  }

  private TlsBroker(Installation installation) {
    NodePlace place = NodePlace.alone(installation);
    LocalNode node = new LocalNode(place);
    try {
      // The keys are in the broker's folder, which is deleted however this JVM ends.
      certificates = Certificates.make(node.folder());
      tlsPort = FreePorts.next();
      node.configure(configuration(installation));
    } catch (RuntimeException failed) {
      node.close();
      throw failed;
    }
    broker = NodeBroker.start(node, place.address(), node::close);
    BrokerRecord.add(broker.version());
  }

  private String configuration(Installation installation) {
    return """
        listeners.ssl.1 = 127.0.0.1:%d
        ssl_options.cacertfile = %s
        ssl_options.certfile = %s
        ssl_options.keyfile = %s
        ssl_options.verify = verify_peer
        ssl_options.fail_if_no_peer_cert = true
        """
        .formatted(
            tlsPort,
            installation.inside(certificates.authority()),
            installation.inside(certificates.certificate()),
            installation.inside(certificates.key()));
  }

  /** This broker, without TLS. */
  public Broker broker() {
    return broker;
  }

  /** The port of TLS on {@code localhost}. */
  public int tlsPort() {
    return tlsPort;
  }

  /** A file with the certificate, in PEM format, of the authority that signed the broker's. */
  public Path authority() {
    return certificates.authority();
  }

  /** A file with a certificate, in PEM format, that the broker trusts. */
  public Path certificate() {
    return certificates.certificate();
  }

  /** A file with the private key of {@link #certificate()}, in PEM format. */
  public Path key() {
    return certificates.key();
  }

  /** Ends the broker and deletes all its data. Again it does nothing. */
  @Override
  public void close() {
    broker.close();
  }
}
