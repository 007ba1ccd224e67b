package io.amqplocks.internal.session;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The connection that probes, and publishes if the probes do. It holds nothing, so it may break or be
 * blocked by an alarm without harm to any lease. Opened at first use, and again when it broke.
 */
public final class ProberConnection {

  private final Connector connector;
  private final Duration closeTimeout;
  private final SingleFlight<Prober> current;
  private final CompletableFuture<Boolean> opened = new CompletableFuture<>();
  private volatile boolean closed;

  ProberConnection(Connector connector, Duration closeTimeout) {
    this.connector = connector;
    this.closeTimeout = closeTimeout;
    current = new SingleFlight<>(prober -> prober.connection.isOpen(), connector::failure);
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
    Prober prober = current.get(call, () -> new Prober(connector.open("prober")));
    if (closed) {
      close();
      throw new LockException.Unreachable(
          "The session ended while looking for slots of " + call.lock(), null);
    }
    try {
      Channel channel = prober.connection.createChannel();
      if (channel == null) {
        throw call.noChannel("look for slots");
      }
      opened.complete(true);
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "open a channel", e);
    }
  }

  /** Completed when it is used for the first time; in the user's thread, so go on in another. */
  public CompletableFuture<Boolean> opened() {
    return opened;
  }

  /** Whether it is a channel of the connection as it is now. */
  public boolean carries(Channel channel) {
    return current
        .ifOpen()
        .filter(prober -> prober.connection.equals(channel.getConnection()))
        .isPresent();
  }

  /** Completed while an alarm of the broker keeps this connection from publishing; with the reason. */
  public CompletableFuture<String> blocked() {
    return current.ifOpen().map(prober -> prober.blocked).orElseGet(CompletableFuture::new);
  }

  /** Bounded even under an alarm, when the broker does not read what this connection sends. */
  void close() {
    closed = true;
    current
        .ifOpen()
        .ifPresent(prober -> prober.connection.abort(Math.toIntExact(closeTimeout.toMillis())));
  }
}
