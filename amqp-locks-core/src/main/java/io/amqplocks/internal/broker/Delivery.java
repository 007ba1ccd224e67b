package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message that this process has received and not acknowledged.
 *
 * @param channel the channel that it came on, and on which it must be answered
 * @param tag its delivery tag on that channel
 * @param content its content as text
 * @param id its {@code message-id}; empty if it has none
 * @param returns how often it was taken and put back before, if the queue counts that
 */
public record Delivery(Channel channel, long tag, String content, String id, long returns) {

  /** Longer than all of our messages. A longer one is a stranger's, and is read as empty. */
  private static final int LONGEST = 1 << 20;

  /** A message that was pushed to a consumer. */
  public static Delivery of(
      Channel channel, long tag, @Nullable BasicProperties properties, byte @Nullable [] body) {
    return properties == null
        ? new Delivery(channel, tag, text(body), "", 0)
        : new Delivery(
            channel,
            tag,
            text(body),
            Objects.requireNonNullElse(properties.getMessageId(), ""),
            returns(properties.getHeaders()));
  }

  /** The message of a reply to {@code basic.get}; null if the queue was empty. */
  public static @Nullable Delivery got(Channel channel, Command reply) {
    return reply.getMethod() instanceof GetOk got
        ? of(
            channel,
            got.getDeliveryTag(),
            (BasicProperties) reply.getContentHeader(),
            reply.getContentBody())
        : null;
  }

  public static String text(byte @Nullable [] body) {
    return body == null || body.length > LONGEST ? "" : new String(body, StandardCharsets.UTF_8);
  }

  /**
   * Up to 4.2 the delivery count includes all returns; from 4.3 on it includes failures only. No
   * header means 0.
   */
  private static long returns(@Nullable Map<String, Object> headers) {
    if (headers == null) {
      return 0;
    }
    Object acquired = headers.get("x-acquired-count");
    Object count = acquired == null ? headers.get("x-delivery-count") : acquired;
    return count instanceof Number number ? number.longValue() : 0;
  }

  /**
   * Whether this is that message, put back once and taken by nobody in between. A queue that does
   * not count returns shows only whether the content is the same.
   */
  public boolean isNextReturnOf(Delivery last) {
    boolean counts = returns > 0 || last.returns > 0;
    return content.equals(last.content) && (!counts || returns == last.returns + 1);
  }

  /** Requeues the message by nack. A reject counts as a failure from 4.3 on (trap 8). */
  public void putBack() throws IOException {
    channel.basicNack(tag, false, true);
  }

  /** Acknowledges the message, which removes it from the queue for good. */
  public void remove() throws IOException {
    channel.basicAck(tag, false);
  }
}
