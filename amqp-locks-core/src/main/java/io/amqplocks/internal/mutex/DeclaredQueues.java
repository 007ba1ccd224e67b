package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.lock.LockException;

/**
 * Queues that each client declares, and that expire when unused: those of the default mutex. The
 * broker compares the arguments, so what can be declared is a mutex's queue.
 *
 * @param broker what to declare
 * @param side the connection that declares, and holds nothing (trap 7)
 */
record DeclaredQueues(BrokerProfile broker, AuxiliaryConnection side) implements QueueFinding {

  @Override
  public QueueState find(Call call, String queue) {
    String step = "declare queue " + queue;
    QueueState.Reader reader = new QueueState.Reader();
    Answer answer;
    try {
      answer =
          side.open(call).rpc().askUnlessOverdue(call, step, broker.mutex(queue), queue, reader);
    } catch (LockException.Unexpected e) {
      throw BrokerErrors.isOtherwise(e) ? foreign(call, queue, BrokerErrors.text(e)) : e;
    }
    if (answer == Answer.LOCKED) {
      throw foreign(call, queue, "it is another connection's own");
    }
    if (answer != Answer.OK) {
      throw call.unanswered(step);
    }
    return reader.state(answer);
  }

  @Override
  public boolean provesKind() {
    return true;
  }

  /** The next try declares it. */
  @Override
  public void missing(Call call) {}

  @Override
  public LockException deleted(Call call, String queue, int times) {
    return new LockException.Unanswered(
        "RabbitMQ ended %d consumers of queue %s of %s in a row; see who deletes it"
            .formatted(times, queue, call.lock()));
  }

  @Override
  public String remedy() {
    return "delete it, or let all processes use the same algorithm for this name";
  }
}
