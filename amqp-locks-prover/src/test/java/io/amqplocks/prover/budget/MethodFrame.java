package io.amqplocks.prover.budget;

import com.rabbitmq.client.Method;

/**
 * An AMQP method that passed the proxy.
 *
 * @param connection the number of the connection through the proxy
 * @param channel the number of the channel in it
 * @param sent whether the client sent it
 * @param method what it is
 */
record MethodFrame(int connection, int channel, boolean sent, Method method) {

  /** Whether both belong to the same channel of the same connection. */
  boolean isOnChannelOf(MethodFrame other) {
    return connection == other.connection && channel == other.channel;
  }

  /** Its name, such as {@code queue.declare-ok}. */
  String name() {
    return method.protocolMethodName();
  }

  @Override
  public String toString() {
    return "%s %d/%d %s".formatted(sent ? ">" : "<", connection, channel, method);
  }
}
