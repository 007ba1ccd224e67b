package io.amqplocks.internal.session;

import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;

/**
 * A connection of the session that holds nothing, so that it may break without harm to any lease: in a
 * part of a cluster without a majority RabbitMQ answers a declare, and a get from a quorum queue, by
 * closing the connection (541, trap 7). It never publishes, so no alarm stops it. Opened at first use, and
 * again when it broke.
 */
final class SideConnection {

  private final Connector connector;
  private final Executor background;
  private final Ticker ticker;
  private final SingleFlight<Life> current;
  private volatile boolean closed;

  /**
   * One life of it.
   *
   * @param connection the connection
   * @param questions its channels for one question at a time
   * @param deliveries its channels for consumers
   * @param deaths what the broker tells of holders that die
   */
  record Life(
      Connection connection,
      QuestionChannels questions,
      DeliveryChannels deliveries,
      QueueDeaths deaths) {}

  SideConnection(Connector connector, Executor background, Duration callTimeout, Ticker ticker) {
    this.connector = connector;
    this.background = background;
    this.ticker = ticker;
    current =
        connector.single(life -> life.connection.isOpen(), life -> connector.drop(life.connection));
  }

  Life open(Call call) {
    try {
      Life life = current.get(call, this::open);
      requireNotClosed(call);
      return life;
    } catch (LockException e) {
      requireNotClosed(call);
      throw e;
    }
  }

  private void requireNotClosed(Call call) {
    if (closed) {
      throw new LockException.Unreachable("The session ended while acquiring " + call.lock(), null);
    }
  }

  private Life open() throws IOException, TimeoutException {
    Connection connection = connector.open("side");
    QuestionChannels questions = new QuestionChannels(connection, background, ticker);
    return new Life(
        connection,
        questions,
        new DeliveryChannels(connection, questions, background),
        new QueueDeaths(connection, connector.virtualHost()));
  }

  void close() {
    closed = true;
    current.close();
  }
}
