package io.amqplocks.internal.persistent;

import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.QueueRetry;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.AdminMutex;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enables and disables one persistent mutex by declaring and deleting its queue. Each is one
 * idempotent step. The administration mutex separates them: if a declare coincides with the
 * deletion of the same queue, RabbitMQ 4.3 may close the connection (541), and all leases on it
 * would be lost.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param mutex lets one administrator work at a time
 * @param sessions the sessions to ask the broker by
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record PersistentMutexAdministration(
    LockId lock,
    String queue,
    AdminMutex mutex,
    Sessions sessions,
    Duration callTimeout,
    Ticker ticker)
    implements PersistentMutexAdmin {

  private static final Logger log = LoggerFactory.getLogger(PersistentMutexAdministration.class);

  @Override
  public void enable() {
    mutex.during(held -> declare());
  }

  private boolean declare() {
    Call call = call();
    try {
      String step = "declare queue " + queue;
      Answer answer = session(call).rpc().ask(call, step, QueueArguments.persistentMutex(queue));
      if (answer == Answer.LOCKED) {
        throw conflict("it is another connection's own");
      }
      return true;
    } catch (LockException.Unexpected e) {
      throw BrokerErrors.isOtherwise(e) ? conflict(e.getMessage()) : e;
    }
  }

  private LockException conflict(@Nullable String why) {
    return new LockException.Conflict(
        "The %s cannot be used: there is a queue %s that is not as it should be (%s); delete it,"
                .formatted(lock, queue, why)
            + " or use another name or prefix");
  }

  @Override
  public void disable() {
    mutex.during(held -> delete());
  }

  private boolean delete() {
    Call call = call();
    session(call).durableQueues().delete(call, queue);
    return true;
  }

  @Override
  public boolean isEnabled() {
    return look().exists();
  }

  /** The first consumer is the active one, and holds. */
  @Override
  public boolean isHeld() {
    return look().consumers() > 0;
  }

  private QueueState look() {
    Call call = call();
    RpcChannelPool rpc = session(call).rpc();
    QueueState state =
        QueueRetry.of(
            call,
            queue,
            () -> log.debug("Queue {} may be just being deleted", queue),
            () -> rpc.lookUnlessOverdue(call, queue));
    if (state.answer() == Answer.LOCKED) {
      throw conflict("it is another connection's own");
    }
    return state;
  }

  private Session session(Call call) {
    return sessions.current(call);
  }

  private Call call() {
    return Call.on(lock, callTimeout, ticker);
  }
}
