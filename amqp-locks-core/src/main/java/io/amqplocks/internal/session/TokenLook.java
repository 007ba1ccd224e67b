package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Method;
import io.amqplocks.internal.topology.QueueArguments;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Asks whether a token is still held.
 *
 * @param channels where tokens are held
 */
record TokenLook(DeliveryChannels channels) {

  /**
   * Asks, on the token's own channel, whether its queue is there; so the answer also says that channel
   * and connection live, and with them the hold.
   *
   * @param byMajority whether it is a quorum queue, of which a minority must not be believed. What asks
   *     all of it is a get; a token that comes of it goes back at once
   * @return OK, ABSENT if the token is not held any more, or NONE, also while an earlier question is open:
   *     a second one on the same channel would wait for the first, without a bound
   */
  Answer at(Call call, HeldToken token, boolean byMajority) {
    DeliveryChannel channel = token.channel();
    if (!channel.share()) {
      return Answer.ABSENT;
    }
    if (!channel.ask()) {
      channels.giveBack(channel);
      return Answer.NONE;
    }
    Method question = byMajority ? get(token.queue()) : QueueArguments.passive(token.queue());
    boolean answered = true;
    try {
      Answer answer =
          channels.ask(
              call,
              "look for token queue " + token.queue(),
              channel,
              question,
              TokenLook::putBack,
              late -> {
                channel.asked();
                channels.giveBack(channel);
              });
      answered = answer != Answer.NONE;
      if (!answered) {
        return answer;
      }
      channels.giveBack(channel);
      return answer == Answer.OK && !token.isGone() ? Answer.OK : Answer.ABSENT;
    } finally {
      if (answered) {
        channel.asked();
      }
    }
  }

  private static void putBack(Channel channel, Command reply) throws IOException {
    Delivery got = got(channel, reply);
    if (got != null) {
      got.putBack();
    }
  }

  static Method get(String queue) {
    return new Basic.Get.Builder().queue(queue).build();
  }

  static @Nullable Delivery got(Channel channel, Command reply) {
    return reply.getMethod() instanceof GetOk got
        ? Delivery.of(
            channel,
            got.getDeliveryTag(),
            (BasicProperties) reply.getContentHeader(),
            reply.getContentBody())
        : null;
  }
}
