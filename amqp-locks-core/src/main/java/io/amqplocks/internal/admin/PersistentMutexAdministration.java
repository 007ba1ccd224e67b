package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.PersistentMutexAdmin;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * Enables and disables one persistent mutex: declares and deletes its queue. There is no administration
 * mutex, for there is nothing between one step's before and after to protect: the broker puts declares
 * and deletes of one queue in an order, and each is idempotent.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param sessions where to ask
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record PersistentMutexAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements PersistentMutexAdmin {

  @Override
  public void enable() {
    Call call = call();
    try {
      session(call).slots().declare(call, queue);
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
    Call call = call();
    session(call).slots().delete(call, queue);
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
    return session(call).consumers().count(call, queue);
  }

  private Session session(Call call) {
    return sessions.current(call);
  }

  private Call call() {
    return Call.on(lock, callTimeout, ticker);
  }
}
