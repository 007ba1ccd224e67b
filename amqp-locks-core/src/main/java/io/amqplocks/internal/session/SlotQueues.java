package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Queue.Delete;
import com.rabbitmq.client.Method;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;

/**
 * The durable queues that stand for a semaphore's slots. Declaring and deleting are idempotent, so an
 * answer that never came is made up for by asking again.
 */
public final class SlotQueues {

  private final QuestionChannels holder;

  SlotQueues(QuestionChannels holder) {
    this.holder = holder;
  }

  /** Whether the queue is there. Publishes nothing, so an alarm of the broker does not matter. */
  public Answer exists(Call call, String queue) {
    return holder.askUnlessOverdue(
        call, "look for queue " + queue, QueueArguments.passive(queue), queue);
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
