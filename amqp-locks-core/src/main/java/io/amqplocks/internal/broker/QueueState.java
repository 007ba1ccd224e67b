package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;

/**
 * A queue, as the reply to a declare describes it.
 *
 * @param answer OK if the queue exists and does not belong to another connection
 * @param messages the number of ready messages; 0 unless the answer is OK
 * @param consumers the number of consumers; 0 unless the answer is OK. A quorum queue also counts
 *     each unanswered message of a get
 */
public record QueueState(Answer answer, int messages, int consumers) {

  /** Whether there is such a queue, whoever it belongs to. */
  public boolean exists() {
    return answer != Answer.ABSENT;
  }

  /** Reads the reply to one declare. */
  public static final class Reader implements Rpc.Reading {

    private volatile int messages;
    private volatile int consumers;

    @Override
    public void of(Channel channel, Command reply) {
      DeclareOk declared = (DeclareOk) reply.getMethod();
      messages = declared.getMessageCount();
      consumers = declared.getConsumerCount();
    }

    /** What was read, with the answer. */
    public QueueState state(Answer answer) {
      // A reply that came too late may be read at this moment.
      return answer == Answer.OK
          ? new QueueState(answer, messages, consumers)
          : new QueueState(answer, 0, 0);
    }
  }
}
