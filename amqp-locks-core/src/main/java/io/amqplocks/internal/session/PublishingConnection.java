package io.amqplocks.internal.session;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that may publish: to look for slots, if the probes do it so, or to tell those who wait. It
 * holds nothing, so it may break or be blocked by an alarm without harm to any lease. Opened at first use, and again when it broke.
 */
public final class PublishingConnection {

  private static final Logger log = LoggerFactory.getLogger(PublishingConnection.class);

  private final Connector connector;
  private final String role;
  private final SingleFlight<Life> current;
  private final CompletableFuture<Boolean> opened = new CompletableFuture<>();
  private volatile boolean closed;

  PublishingConnection(Connector connector, String role) {
    this.connector = connector;
    this.role = role;
    current =
        connector.single(life -> life.connection.isOpen(), life -> connector.drop(life.connection));
  }

  /** One life of the connection, with what the broker said about it last. */
  private static final class Life implements BlockedListener {
    final Connection connection;
    volatile CompletableFuture<String> blocked = new CompletableFuture<>();

    Life(Connection connection) {
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
    Life life = life(call);
    try {
      Channel channel = life.connection.createChannel();
      if (channel == null) {
        throw call.noChannel("look for slots");
      }
      opened.complete(true);
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "open a channel", e);
    }
  }

  private Life life(Call call) {
    try {
      Life life = current.get(call, () -> new Life(connector.open(role)));
      requireNotClosed(call);
      return life;
    } catch (LockException e) {
      requireNotClosed(call);
      throw e;
    }
  }

  private void requireNotClosed(Call call) {
    if (closed) {
      throw new LockException.Unreachable(
          "The session ended while looking for slots of " + call.lock(), null);
    }
  }

  /** One channel that many publish on, in turns. */
  SingleFlight<Channel> shared() {
    return connector.single(
        Channel::isOpen,
        channel -> log.debug("{} goes with its connection", channel),
        (call, failure) -> BrokerErrors.calling(call, "open a channel", failure));
  }

  /** Completed when it is used for the first time; in the user's thread, so go on in another. */
  public CompletableFuture<Boolean> opened() {
    return opened;
  }

  /** Whether it is a channel of the connection as it is now. */
  public boolean carries(Channel channel) {
    return current
        .ifOpen()
        .filter(life -> life.connection.equals(channel.getConnection()))
        .isPresent();
  }

  /** Completed while an alarm of the broker keeps this connection from publishing; with the reason. */
  public CompletableFuture<String> blocked() {
    return current.ifOpen().map(life -> life.blocked).orElseGet(CompletableFuture::new);
  }

  /** Bounded even under an alarm, when the broker does not read what this connection sends. */
  void close() {
    closed = true;
    current.close();
  }
}
