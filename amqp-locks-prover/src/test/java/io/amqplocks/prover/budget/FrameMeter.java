package io.amqplocks.prover.budget;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.test.Broker;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;

/**
 * Measures operations of clients that connect through its proxy. Answers take longer there. So
 * whoever sends the next request before the answer comes did not wait for it, however busy the
 * machine is.
 */
final class FrameMeter implements AutoCloseable {

  /** Work to measure. */
  @FunctionalInterface
  interface Operation {
    void run() throws Exception;
  }

  private static final Duration ANSWERS_TAKE = Duration.ofMillis(10);

  /** Longer than anything that an operation leaves to another thread takes to begin. */
  private static final Duration QUIET = Duration.ofMillis(150);

  private final FrameLog log = new FrameLog();
  private final Broker broker;
  private final TcpProxy proxy;

  FrameMeter(Broker broker) {
    this.broker = broker;
    proxy = TcpProxy.to(broker, log);
    proxy.delay(Direction.BROKER_TO_CLIENT, ANSWERS_TAKE);
  }

  /** For clients to measure. */
  ConnectionFactory connectionFactory() {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }

  /** Runs it and counts all that passes until it has returned and nothing more follows. */
  Figures measure(Operation operation) throws Exception {
    log.awaitQuiet(QUIET);
    int from = log.frames().size();
    operation.run();
    int returned = log.frames().size();
    log.awaitQuiet(QUIET);
    List<MethodFrame> all = log.frames();
    return Figures.count(all, from, returned);
  }

  @Override
  public void close() {
    proxy.close();
  }
}
