package io.amqplocks.internal.mutex;

import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * Inspects one mutex. Somebody holds it while its queue has a consumer: the first one is the active
 * one.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param sessions the sessions to ask the broker by
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record MutexAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements MutexAdmin {

  @Override
  public boolean isHeld() {
    Call call = Call.on(lock, callTimeout, ticker);
    QueueState state = sessions.current(call).rpc().lookUnlessOverdue(call, queue);
    return state.answer() == Answer.LOCKED || state.consumers() > 0;
  }
}
