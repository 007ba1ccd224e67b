package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.AMQP.Queue.Delete;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.TokenQueueType;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/**
 * An administrator of token semaphores at the broker, one at a time for each semaphore; see {@link
 * AdministratorConnection}. For one thread.
 */
public final class TokenKeeper implements AutoCloseable {

  private final AdministratorConnection connection;
  private final Server server;

  TokenKeeper(Call call, AdministratorConnection connection) {
    this.connection = connection;
    server = connection.server();
    if (!server.isRabbit() || server.major() == 0) {
      connection.close();
      throw new LockException.Unexpected(
          "The %s cannot be administered: that needs quorum queues of RabbitMQ, and this broker is %s"
              .formatted(call.lock(), server),
          null);
    }
  }

  /** The first number of the broker's version, which tells how it counts. */
  public int brokerMajor() {
    return server.major();
  }

  /** Takes the turn; false while another has it. */
  public boolean take(Call call, String adminQueue) {
    return connection.ask(call, "declare queue " + adminQueue, QueueArguments.exclusive(adminQueue))
        == Answer.OK;
  }

  /** Gives up the turn, and keeps the connection. */
  public void giveUp(Call call, String adminQueue) {
    delete(call, adminQueue);
  }

  /** A maker of counters on the same connection. */
  public CounterKeeper counters(Call call) {
    return new CounterKeeper(call, connection);
  }

  /** Declares the queue of a record, or finds it. */
  public void declareRecord(Call call, String queue) {
    connection.must(call, "declare queue " + queue, QueueArguments.counter(queue, server.major()));
  }

  /**
   * Whether the queue of a record, which is there, is declared as this version of the broker wants it. One
   * that RabbitMQ 3.x made has no delivery limit, which 4.x takes for 20.
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
    connection.must(
        call,
        "declare queue " + queue,
        QueueArguments.tokens(queue, type, server.major(), server.minor()));
  }

  /** Declares a queue of tokens of the plain protocol, or finds it. */
  public void declarePlainTokens(Call call, String queue) {
    connection.must(call, "declare queue " + queue, QueueArguments.plainTokens(queue));
  }

  /** Publishes persistent messages; done when the broker has taken all of them. */
  public void publish(Call call, String queue, List<String> texts) {
    String step = "publish to " + queue;
    if (!connection.publish(call, step, queue, texts)) {
      throw new LockException.Unexpected(
          "RabbitMQ did not take all messages of %s for %s; see that no policy limits the locks' queues"
              .formatted(queue, call.lock()),
          null);
    }
  }

  /** Deletes the queue; one that is not there is as good as deleted. */
  public void delete(Call call, String queue) {
    connection.must(call, "delete queue " + queue, new Delete.Builder().queue(queue).build());
  }

  /** How many messages wait in the queue; empty if there is none of that name. */
  public OptionalInt count(Call call, String queue) {
    return number(call, queue, DeclareOk::getMessageCount);
  }

  /**
   * How many consumers the queue has, and a quorum queue as well how many messages that were asked for one
   * by one and are not answered; empty if there is none of that name.
   */
  public OptionalInt consumers(Call call, String queue) {
    return number(call, queue, DeclareOk::getConsumerCount);
  }

  private OptionalInt number(Call call, String queue, ToIntFunction<DeclareOk> which) {
    String step = "look for queue " + queue;
    AtomicInteger number = new AtomicInteger();
    Answer answer =
        connection.ask(
            call,
            step,
            QueueArguments.passive(queue),
            (channel, reply) -> number.set(which.applyAsInt((DeclareOk) reply.getMethod())));
    if (answer == Answer.ABSENT) {
      return OptionalInt.empty();
    }
    if (answer != Answer.OK) {
      throw new LockException.Unexpected(
          "Queue %s of %s is exclusive to somebody; delete it".formatted(queue, call.lock()), null);
    }
    return OptionalInt.of(number.get());
  }

  /** A channel to take messages of that queue into hand by; the caller closes it. */
  public MessageHand hand(Call call, String queue) {
    String step = "take messages of " + queue;
    try {
      return new MessageHand(connection.channel(call, step), queue);
    } catch (IOException | com.rabbitmq.client.ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /** Gives up the turn, and puts back what is in hand. */
  @Override
  public void close() {
    connection.close();
  }
}
