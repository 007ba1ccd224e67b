package io.amqplocks.internal.fencing;

import com.rabbitmq.client.AMQP.Basic.Get;
import io.amqplocks.internal.broker.AdminConnection;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryReader;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The broker side of the administration of counters and tokens, one administrator at a time. The
 * exclusive queue that is the administrator's turn belongs to the same connection that publishes.
 * An administrator that was overtaken therefore has no connection left to publish on. The exception
 * is a cluster whose nodes find each other again: it may delete the queue though the connection
 * lives (trap 27). So whoever has the turn looks for it before it fills a counter, or publishes
 * tokens or a new record. What remains is the time between this look and the publish. Otherwise
 * each counter is filled by one administrator only, and once. Each step is bounded by its call.
 * After a failed step the connection can only be closed.
 *
 * <p>Concurrency: for one thread.
 */
public class CounterAdminConnection implements CounterBroker, AutoCloseable {

  private final AdminConnection connection;

  /** The queue of the turn that this connection has; null if it has none. */
  private @Nullable String turn;

  /** Opens a connection. The caller closes it. */
  public static CounterAdminConnection open(Call call, Session session) {
    return new CounterAdminConnection(call, session.openAdministrator(call));
  }

  /** Uses that connection, for fencing counters. */
  public CounterAdminConnection(Call call, AdminConnection connection) {
    this.connection = connection;
    try {
      connection.broker().requireFences(call);
    } catch (LockException e) {
      connection.close();
      throw e;
    }
  }

  /** Uses that connection, for tokens. */
  protected CounterAdminConnection(AdminConnection connection) {
    this.connection = connection;
  }

  /** The connection itself, for further steps. */
  protected final AdminConnection connection() {
    return connection;
  }

  @Override
  public final int brokerMajor() {
    return connection.broker().major();
  }

  /** Takes the turn. Returns false while another administrator has it. */
  public final boolean take(Call call, String adminQueue) {
    Answer answer =
        connection.ask(
            call, "declare queue " + adminQueue, connection.broker().exclusive(adminQueue));
    turn = answer == Answer.OK ? adminQueue : null;
    return answer == Answer.OK;
  }

  /** Gives up the turn, and keeps the connection. */
  public final void giveUp(Call call) {
    String queue = turn;
    turn = null;
    if (queue != null) {
      delete(call, queue);
    }
  }

  /**
   * For whatever two administrators at once must not do.
   *
   * @throws LockException.Unexpected if the turn was lost
   */
  public final void requireTurn(Call call) {
    if (turn != null && connection.look(call, turn).answer() != Answer.OK) {
      throw new LockException.Unexpected(
          "RabbitMQ deleted queue %s while %s was being changed, so another process may change it now;"
                  .formatted(turn, call.lock())
              + " see what its status is, and try again",
          null);
    }
  }

  @Override
  public final boolean exists(Call call, String queue) {
    return connection.look(call, queue).answer() == Answer.OK;
  }

  @Override
  public final void declareEpoch(Call call, String queue) {
    connection.must(call, "declare queue " + queue, QueueArguments.slot(queue));
  }

  @Override
  public final void delete(Call call, String queue) {
    connection.delete(call, queue);
  }

  @Override
  public final void make(Call call, String queue, String content) {
    connection.must(call, "declare counter " + queue, connection.broker().counter(queue));
    requireTurn(call);
    if (!connection.publish(call, "fill counter " + queue, queue, List.of(content))) {
      throw new LockException.FenceUnavailable(
          "RabbitMQ did not take the message of counter %s for %s; is there a policy on it?"
              .formatted(queue, call.lock()));
    }
  }

  @Override
  public final MessageReading read(Call call, String queue) {
    AtomicReference<MessageReading> reading = new AtomicReference<>(MessageReading.ABSENT);
    String step = "read counter " + queue;
    Answer answer =
        connection.ask(
            call,
            step,
            new Get.Builder().queue(queue).build(),
            (channel, reply) -> reading.set(AuxiliaryReader.putBack(channel, reply)));
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
