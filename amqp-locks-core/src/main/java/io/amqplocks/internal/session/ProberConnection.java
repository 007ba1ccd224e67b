package io.amqplocks.internal.session;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The connection that publishes probes. It holds nothing, so it may break, be blocked by an alarm, or
 * be thrown away without harm to any lease. Opened at first use.
 *
 * <p>Concurrency: the connection is replaced as a whole, by compare-and-set; of two threads that open
 * one at a time, the loser closes its own and uses the winner's.
 */
public final class ProberConnection {

  private final Connector connector;
  private final Executor background;
  private final AtomicReference<@Nullable Prober> current = new AtomicReference<>();
  private volatile boolean closed;

  ProberConnection(Connector connector, Executor background) {
    this.connector = connector;
    this.background = background;
  }

  /** One life of the connection, with what the broker said about it last. */
  private static final class Prober implements BlockedListener {
    final Connection connection;
    volatile CompletableFuture<String> blocked = new CompletableFuture<>();

    Prober(Connection connection) {
      this.connection = connection;
      connection.addBlockedListener(this);
    }

    @Override
    public void handleBlocked(String reason) {
      blocked.complete(reason);
    }

    @Override
    public void handleUnblocked() {
      blocked = new CompletableFuture<>();
    }
  }

  /** A new channel. */
  public Channel open(Call call) {
    Connection connection = connection(call);
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new LockException.Unexpected(
            "All channels of the probing connection are in use; cannot look for " + call.lock(),
            null);
      }
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "open a channel", e);
    }
  }

  /** Completed while an alarm of the broker keeps this connection from publishing; with the reason. */
  public CompletableFuture<String> blocked() {
    Prober prober = current.get();
    return prober == null || !prober.connection.isOpen()
        ? new CompletableFuture<>()
        : prober.blocked;
  }

  /**
   * Throws the connection away after a probe was not answered: what it still has to send is bounded
   * only so, and the next probe gets a fresh one.
   */
  public void discard(Channel channel) {
    Prober prober = current.get();
    if (prober != null && prober.connection.equals(channel.getConnection())) {
      current.compareAndSet(prober, null);
      background.execute(prober.connection::abort);
    }
  }

  void close() {
    closed = true;
    Prober prober = current.getAndSet(null);
    if (prober != null) {
      prober.connection.abort();
    }
  }

  private Connection connection(Call call) {
    Prober prober = current.get();
    if (prober != null && prober.connection.isOpen()) {
      return prober.connection;
    }
    Prober opened = new Prober(connector.open(call, "prober"));
    if (current.compareAndSet(prober, opened) && !closed) {
      return opened.connection;
    }
    opened.connection.abort();
    Prober winner = current.get();
    if (winner == null || winner == opened) {
      throw new LockException.Unreachable(
          "The session ended while looking for " + call.lock(), null);
    }
    return winner.connection;
  }
}
