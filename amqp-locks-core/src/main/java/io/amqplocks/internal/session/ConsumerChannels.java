package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.HolderConnection.LateAnswer;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels that carry exclusive consumers, one each, kept open for the next one.
 *
 * <p>Concurrency: a channel is lent from the first request of a consumer to the answer of the last one,
 * however late that comes, so a late answer is never taken for the next one's (trap 6). For the same
 * reason none is closed from this side before that: the client would give its number away while answers
 * are still under way. A semaphore bounds how many are lent.
 */
final class ConsumerChannels {

  private static final Logger log = LoggerFactory.getLogger(ConsumerChannels.class);

  private static final Method ONE_AT_A_TIME = new Basic.Qos.Builder().prefetchCount(1).build();

  /** What a broker allows by default, where it sets no bound of its own. */
  private static final int USUAL = 2047;

  private final Connection connection;
  private final Executor background;
  private final int most;
  private final Semaphore lendable;
  private final Deque<ConsumerChannel> idle = new ConcurrentLinkedDeque<>();

  ConsumerChannels(Connection connection, Executor background) {
    this.connection = connection;
    this.background = background;
    int allowed = connection.getChannelMax() == 0 ? USUAL : connection.getChannelMax();
    // The rest is left to all other calls, for releases above all.
    most = Math.max(1, allowed * 3 / 4);
    lendable = new Semaphore(most);
  }

  /** A channel to carry a consumer. Does not wait for one: they may be lent for hours. */
  ConsumerChannel lend(Call call, String step) {
    if (!lendable.tryAcquire()) {
      throw new LockException.Unanswered(
          "Cannot %s for %s now: %d channels of the connection carry a held lock each, and no more may"
                  .formatted(step, call.lock(), most)
              + "; release some, raise the broker's channel_max, or use a second AmqpLocks");
    }
    for (ConsumerChannel each = idle.poll(); each != null; each = idle.poll()) {
      if (each.isOpen()) {
        return each;
      }
    }
    return open(call, step);
  }

  private ConsumerChannel open(Call call, String step) {
    ConsumerChannel opened = null;
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw call.noChannel(step);
      }
      opened = new ConsumerChannel(channel, background);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (opened == null) {
        lendable.release();
      }
    }
    ConsumerChannel channel = opened;
    if (ask(call, step, channel, ONE_AT_A_TIME, late -> giveBack(channel)) == Answer.NONE) {
      throw call.unanswered(step);
    }
    return channel;
  }

  /** Asks on a lent channel; if this throws, the channel is gone and needs no giving back. */
  Answer ask(Call call, String step, ConsumerChannel channel, Method method, LateAnswer late) {
    boolean failed = true;
    try {
      Answer answer = channel.ask(call, step, method, late);
      failed = false;
      return answer;
    } finally {
      if (failed) {
        giveBack(channel);
      }
    }
  }

  /** Its last request was answered. */
  void giveBack(ConsumerChannel channel) {
    channel.carry(null);
    if (channel.isOpen()) {
      idle.push(channel);
    }
    lendable.release();
  }

  /**
   * Its last request was answered, and it must carry no other consumer. The broker remembers for each
   * channel what it consumed; one that consumed a quorum queue, and then a classic queue declared under
   * the same name later, crashes in the broker and takes the connection along (541, seen on 3.10 and
   * 4.3).
   */
  void discard(ConsumerChannel channel) {
    channel.carry(null);
    background.execute(
        () -> {
          try {
            channel.getChannel().abort();
          } catch (IOException | ShutdownSignalException e) {
            log.debug("Channel of a consumer not closed: {}", e.getMessage());
          } finally {
            lendable.release();
          }
        });
  }
}
