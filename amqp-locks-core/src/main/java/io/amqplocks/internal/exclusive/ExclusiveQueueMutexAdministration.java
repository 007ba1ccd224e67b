package io.amqplocks.internal.exclusive;

import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * Inspects one exclusive-queue mutex. Somebody holds it while its queue exists.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param sessions the sessions to ask the broker by
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record ExclusiveQueueMutexAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements MutexAdmin {

  @Override
  public boolean isHeld() {
    Call call = Call.on(lock, callTimeout, ticker);
    // It only looks. The default mutex of that name has the same queue, and needs its messages.
    return sessions.current(call).rpc().lookUnlessOverdue(call, queue).answer() != Answer.ABSENT;
  }
}
