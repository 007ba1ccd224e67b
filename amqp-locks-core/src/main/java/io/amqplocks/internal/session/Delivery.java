package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message in our hands, not acknowledged.
 *
 * @param channel the channel that it came on, and must be answered on
 * @param tag its number there
 * @param content what it says
 * @param returns how often it was taken and put back before, if the queue counts that
 */
public record Delivery(Channel channel, long tag, String content, long returns) {

  /** More than anything of ours says; what is longer is a stranger's, and says nothing to us. */
  private static final int LONGEST = 1 << 20;

  static Delivery of(
      Channel channel, long tag, @Nullable BasicProperties properties, byte @Nullable [] body) {
    return new Delivery(
        channel, tag, text(body), returns(properties == null ? null : properties.getHeaders()));
  }

  /** What a get was answered by; null if the queue had nothing. */
  static @Nullable Delivery got(Channel channel, Command reply) {
    return reply.getMethod() instanceof GetOk got
        ? of(
            channel,
            got.getDeliveryTag(),
            (BasicProperties) reply.getContentHeader(),
            reply.getContentBody())
        : null;
  }

  static String text(byte @Nullable [] body) {
    return body == null || body.length > LONGEST ? "" : new String(body, StandardCharsets.UTF_8);
  }

  /** Up to 4.2 "delivery" counts all returns; from 4.3 on that is failures only. Absent means 0. */
  private static long returns(@Nullable Map<String, Object> headers) {
    if (headers == null) {
      return 0;
    }
    Object acquired = headers.get("x-acquired-count");
    Object count = acquired == null ? headers.get("x-delivery-count") : acquired;
    return count instanceof Number number ? number.longValue() : 0;
  }

  /** Puts it back. Not by reject, which counts as a failure from 4.3 on (trap 8). */
  void putBack() throws IOException {
    channel.basicNack(tag, false, true);
  }

  /** Takes it out of the queue for good. */
  void remove() throws IOException {
    channel.basicAck(tag, false);
  }
}
