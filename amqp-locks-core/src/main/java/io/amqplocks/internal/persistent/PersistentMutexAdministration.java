package io.amqplocks.internal.persistent;

import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.consuming.HoldingConsumers;
import io.amqplocks.internal.exclusive.AdminMutex;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.OptionalInt;

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

  @Override
  public void enable() {
    mutex.during(held -> declare());
  }

  private boolean declare() {
    Call call = call();
    try {
      session(call).durableQueues().declare(call, queue);
      return true;
    } catch (LockException.Unexpected e) {
      throw BrokerErrors.isOtherwise(e) ? conflict(e) : e;
    }
  }

  private LockException conflict(LockException.Unexpected e) {
    return new LockException.Conflict(
        "The %s cannot be enabled: there is a queue %s that is not as it should be (%s); delete it,"
                .formatted(lock, queue, e.getMessage())
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
    return consumers().isPresent();
  }

  @Override
  public boolean isHeld() {
    return consumers().orElse(0) > 0;
  }

  private OptionalInt consumers() {
    Call call = call();
    return HoldingConsumers.of(session(call)).count(call, queue);
  }

  private Session session(Call call) {
    return sessions.current(call);
  }

  private Call call() {
    return Call.on(lock, callTimeout, ticker);
  }
}
