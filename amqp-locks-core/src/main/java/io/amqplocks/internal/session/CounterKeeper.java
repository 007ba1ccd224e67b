package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Queue.Delete;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Makes counters, one maker at a time. The exclusive queue that says whose turn it is belongs to the
 * very connection that publishes: a maker that was overtaken has no connection left to publish by. So
 * a counter is filled by one maker only, and once. For one thread; each step is bounded by the call's
 * bound, and after one that failed the connection is of no more use than to be closed.
 */
public final class CounterKeeper implements AutoCloseable {

  private final AdministratorConnection connection;
  private final int brokerMajor;

  CounterKeeper(Call call, AdministratorConnection connection) {
    this.connection = connection;
    try {
      brokerMajor = major(call, connection.server());
    } catch (LockException e) {
      connection.close();
      throw e;
    }
  }

  static int major(Call call, Server server) {
    if (!server.isRabbit() || server.major() == 0) {
      throw new LockException.FenceUnavailable(
          "There are no fencing tokens of %s: they need quorum queues of RabbitMQ, and this broker is %s"
              .formatted(call.lock(), server));
    }
    return server.major();
  }

  /** The first number of the broker's version. */
  public int brokerMajor() {
    return brokerMajor;
  }

  /** Takes the turn; false while another has it. */
  public boolean take(Call call, String adminQueue) {
    return connection.ask(call, "declare queue " + adminQueue, QueueArguments.exclusive(adminQueue))
        == Answer.OK;
  }

  /** Whether the queue is there. */
  public boolean exists(Call call, String queue) {
    return connection.ask(call, "look for queue " + queue, QueueArguments.passive(queue))
        == Answer.OK;
  }

  /** Declares a queue that says by its being there that a counter is in use. */
  public void declareEpoch(Call call, String queue) {
    connection.must(call, "declare queue " + queue, QueueArguments.slot(queue));
  }

  /** Deletes a counter; one that is not there is as good as deleted. */
  public void delete(Call call, String queue) {
    connection.must(call, "delete queue " + queue, new Delete.Builder().queue(queue).build());
  }

  /** Declares a counter and gives it its message; for a queue that was never there before. */
  public void make(Call call, String queue, String content) {
    connection.must(call, "declare counter " + queue, QueueArguments.counter(queue, brokerMajor));
    if (!connection.publish(call, "fill counter " + queue, queue, List.of(content))) {
      throw new LockException.FenceUnavailable(
          "RabbitMQ did not take the message of counter %s for %s; is there a policy on it?"
              .formatted(queue, call.lock()));
    }
  }

  /** Reads a counter, which then counts one more. */
  public CounterReading read(Call call, String queue) {
    AtomicReference<CounterReading> reading = new AtomicReference<>(CounterReading.ABSENT);
    String step = "read counter " + queue;
    Answer answer =
        connection.ask(
            call,
            step,
            new Get.Builder().queue(queue).build(),
            (channel, reply) -> reading.set(CounterQueues.putBack(channel, reply)));
    if (answer == Answer.LOCKED) {
      throw new LockException.Unexpected(
          "Queue %s is no counter: RabbitMQ lets nobody read it".formatted(queue), null);
    }
    return reading.get();
  }

  /** Gives up the turn. */
  @Override
  public void close() {
    connection.close();
  }
}
