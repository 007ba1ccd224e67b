package io.amqplocks.internal.tokens.admin;

import com.rabbitmq.client.Channel;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.AdminConnection;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.fencing.CounterAdminConnection;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;

/**
 * The broker side of the administration of token semaphores. There is one administrator at a time
 * for each semaphore; see {@link AdminConnection}. The queue of a record is like a counter's, so
 * this is a connection for counters too.
 *
 * <p>Concurrency: for one thread.
 */
public final class TokenAdminConnection extends CounterAdminConnection {

  /** Opens one; the caller closes it. */
  public static TokenAdminConnection open(Call call, Session session) {
    AdminConnection connection = session.openAdministrator(call);
    try {
      connection.broker().requireTokens(call, TokenQueueType.CLASSIC);
    } catch (LockException e) {
      connection.close();
      throw e;
    }
    return new TokenAdminConnection(connection);
  }

  private TokenAdminConnection(AdminConnection connection) {
    super(connection);
  }

  /** What the broker at the other end can do. */
  BrokerProfile broker() {
    return connection().broker();
  }

  /** Declares the queue of a record; does nothing if it exists. */
  public void declareRecord(Call call, String queue) {
    connection().must(call, "declare queue " + queue, broker().counter(queue));
  }

  /**
   * Whether the existing queue of a record is declared as this version of the broker requires. A
   * queue that RabbitMQ 3.x made has no delivery limit, which 4.x takes for 20.
   */
  public boolean isRecordAsWanted(Call call, String queue) {
    try {
      declareRecord(call, queue);
      return true;
    } catch (LockException.Unexpected e) {
      if (BrokerErrors.isOtherwise(e)) {
        return false;
      }
      throw e;
    }
  }

  /** Declares a queue of tokens. */
  public void declareTokens(Call call, String queue, TokenQueueType type) {
    connection().must(call, "declare queue " + queue, broker().tokens(queue, type));
  }

  /** Declares a queue of tokens of the plain protocol; does nothing if it exists. */
  public void declarePlainTokens(Call call, String queue) {
    connection().must(call, "declare queue " + queue, QueueArguments.plainTokens(queue));
  }

  /** Publishes persistent messages; returns when the broker has confirmed all of them. */
  public void publish(Call call, String queue, List<String> texts) {
    String step = "publish to " + queue;
    if (!connection().publish(call, step, queue, texts)) {
      throw new LockException.Unexpected(
          "RabbitMQ did not take all messages of %s for %s; see that no policy limits the locks' queues"
              .formatted(queue, call.lock()),
          null);
    }
  }

  /** The number of ready messages; empty if there is no such queue. */
  public OptionalInt count(Call call, String queue) {
    return number(call, queue, QueueState::messages);
  }

  /**
   * The number of consumers; empty if there is no such queue. A quorum queue also counts each
   * unanswered message of a get.
   */
  public OptionalInt consumers(Call call, String queue) {
    return number(call, queue, QueueState::consumers);
  }

  private OptionalInt number(Call call, String queue, ToIntFunction<QueueState> which) {
    QueueState state = connection().look(call, queue);
    if (state.answer() == Answer.ABSENT) {
      return OptionalInt.empty();
    }
    if (state.answer() != Answer.OK) {
      throw new LockException.Unexpected(
          "Queue %s of %s is exclusive to somebody; delete it".formatted(queue, call.lock()), null);
    }
    return OptionalInt.of(which.applyAsInt(state));
  }

  /** Opens a channel for taking messages of the queue; the caller closes it. */
  public UnackedMessages unacked(Call call, String queue, TokenQueueType type) {
    return new UnackedMessages(this, channelToTake(call, queue), queue, type);
  }

  Channel channelToTake(Call call, String queue) {
    return connection().openChannel(call, "take messages of " + queue);
  }
}
