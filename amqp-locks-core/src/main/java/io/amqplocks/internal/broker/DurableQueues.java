package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.Queue.Delete;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable queues that represent a semaphore's slots. Declaring and deleting are idempotent, so
 * a missing reply is made up for by repeating the request.
 */
public final class DurableQueues {

  private static final Logger log = LoggerFactory.getLogger(DurableQueues.class);

  /**
   * The most messages to remove in one call of {@code exists}. Each lease of the slot calls it
   * once, and so does each verification.
   */
  private static final int MOST_CLEARED = 200;

  private final RpcChannelPool holder;
  private final BrokerProfile broker;
  private final QueueCache piling = new QueueCache();

  public DurableQueues(RpcChannelPool holder, BrokerProfile broker) {
    this.holder = holder;
    this.broker = broker;
  }

  /**
   * Whether the queue exists. Publishes nothing, so an alarm of the broker does not matter. Our
   * queues keep no probes; a queue that does is cleared of them.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   */
  public Answer exists(Call call, String queue) {
    QueueState state = holder.lookUnlessOverdue(call, queue);
    if (state.messages() > 0 && !broker.keepsNewestProbe()) {
      clear(call.half(), queue, state.messages());
    }
    return state.answer();
  }

  /** Removes empty messages, as probes are, up to the first one that is not empty. */
  private void clear(Call call, String queue, int kept) {
    if (!piling.contains(queue)) {
      piling.add(queue);
      log.warn(
          "Queue {} of {} keeps {} messages: somebody declared it without x-max-length=0, so each look for a"
              + " free slot leaves one there. Empty ones are removed; declare it as PROTOCOL says, or set the"
              + " policy max-length=0 on it",
          queue,
          call.lock(),
          kept);
    }
    try {
      for (int i = 0; i < Math.min(kept, MOST_CLEARED); i++) {
        if (!removeOne(call, queue)) {
          return;
        }
      }
    } catch (LockException e) {
      // This costs memory, not the lease.
      log.debug("Queue {} was not cleared: {}", queue, e.getMessage());
    }
  }

  private boolean removeOne(Call call, String queue) {
    AtomicBoolean removed = new AtomicBoolean();
    Answer answer =
        holder.ask(
            call,
            "get a probe from queue " + queue,
            new Get.Builder().queue(queue).build(),
            (channel, reply) -> removed.set(removeIfProbe(channel, reply)));
    return answer == Answer.OK && removed.get();
  }

  private static boolean removeIfProbe(Channel channel, Command reply) throws IOException {
    if (!(reply.getMethod() instanceof GetOk got)) {
      return false;
    }
    byte[] body = reply.getContentBody();
    boolean empty = body == null || body.length == 0;
    if (empty) {
      channel.basicAck(got.getDeliveryTag(), false);
    } else {
      channel.basicNack(got.getDeliveryTag(), false, true);
    }
    return empty;
  }

  /** Whether the existing queue survives a restart of the broker. */
  public boolean isDurable(Call call, String queue) {
    try {
      declare(call, queue);
      return true;
    } catch (LockException.Unexpected e) {
      if (BrokerErrors.isOtherwise(e)) {
        return !BrokerErrors.isAboutDurability(e);
      }
      throw e;
    }
  }

  /** Declares the queue; does nothing if it exists with the right properties. */
  public void declare(Call call, String queue) {
    String step = "declare queue " + queue;
    require(call, step, holder.ask(call, step, broker.slot(queue)), Set.of(Answer.OK));
  }

  /** Deletes the queue; does nothing if it does not exist. */
  public void delete(Call call, String queue) {
    String step = "delete queue " + queue;
    Answer answer = holder.ask(call, step, new Delete.Builder().queue(queue).build());
    require(call, step, answer, Set.of(Answer.OK, Answer.ABSENT));
  }

  private static void require(Call call, String step, Answer answer, Set<Answer> good) {
    if (!good.contains(answer)) {
      throw new LockException.Unexpected(
          "RabbitMQ did not %s for %s: the queue is %s".formatted(step, call.lock(), answer), null);
    }
  }
}
