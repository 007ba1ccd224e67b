package io.amqplocks.internal.readwrite;

import io.amqplocks.admin.ReadWriteLockAdmin;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * Inspects one read-write lock.
 *
 * @param lock the id of its write lock, for messages
 * @param queue its queue
 * @param sessions the sessions to ask the broker by
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record ReadWriteLockAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements ReadWriteLockAdmin {

  @Override
  public int holders() {
    Call call = Call.on(lock, callTimeout, ticker);
    return sessions.current(call).rpc().lookUnlessOverdue(call, queue).consumers();
  }
}
