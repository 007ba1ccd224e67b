package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.AMQP.Queue.Delete;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Method;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable queues that stand for a semaphore's slots. Declaring and deleting are idempotent, so an
 * answer that never came is made up for by asking again.
 */
public final class SlotQueues {

  private static final Logger log = LoggerFactory.getLogger(SlotQueues.class);

  /** In one look; there is one for each lease of the slot, and for each verification of it. */
  private static final int MOST_CLEARED = 200;

  private final QuestionChannels holder;
  private final KnownQueues piling = new KnownQueues();

  SlotQueues(QuestionChannels holder) {
    this.holder = holder;
  }

  /**
   * Whether the queue is there. Publishes nothing, so an alarm of the broker does not matter. If it keeps
   * probes, which a queue of ours does not, those are removed.
   */
  public Answer exists(Call call, String queue) {
    AtomicInteger kept = new AtomicInteger();
    Answer answer =
        holder.askUnlessOverdue(
            call,
            "look for queue " + queue,
            QueueArguments.passive(queue),
            queue,
            (channel, reply) -> kept.set(((DeclareOk) reply.getMethod()).getMessageCount()));
    if (answer == Answer.OK && kept.get() > 0) {
      clear(call.half(), queue, kept.get());
    }
    return answer;
  }

  /** Removes messages that say nothing, as probes do, up to the first that says something. */
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
      // It costs memory, not the lease.
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
            (channel, reply) -> removed.set(removeIfProbe(channel, reply)),
            LateAnswer.IGNORED);
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

  /** Whether the queue, which is there, will be there after the broker was restarted. */
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

  /** Declares the queue, or finds it as it should be. */
  public void declare(Call call, String queue) {
    must(call, "declare queue " + queue, QueueArguments.slot(queue));
  }

  /** Deletes the queue; one that is not there is as good as deleted. */
  public void delete(Call call, String queue) {
    must(call, "delete queue " + queue, new Delete.Builder().queue(queue).build());
  }

  private void must(Call call, String step, Method method) {
    Answer answer = holder.ask(call, step, method, LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    if (answer != Answer.OK) {
      throw new LockException.Unexpected(
          "RabbitMQ did not %s for %s: the queue is %s".formatted(step, call.lock(), answer), null);
    }
  }
}
