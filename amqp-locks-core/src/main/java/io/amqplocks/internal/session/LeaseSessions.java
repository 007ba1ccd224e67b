package io.amqplocks.internal.session;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.session.Session.Member;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.concurrent.TimeoutException;

/**
 * Opens sessions for one lease each, beside the session that all others share. What ends such a
 * session costs no other lease. Waiters are notified on the connections of the shared session,
 * which outlive the lease.
 *
 * <p>Concurrency: a session ends with the shared one at the latest. It joins that one as soon as it
 * is open, and is told at once if that one has ended by then. A session that opens too late for its
 * caller is closed by {@link SingleFlight}.
 *
 * @param listener prepares each of these sessions for its lease
 */
public record LeaseSessions(Sessions.SessionListener listener) {

  /** Opens a session, which the caller closes. A thread of the library opens it. */
  public Session open(Call call, Session shared) {
    SingleFlight<Session> opening = shared.single(Session::isOpen, Session::close);
    try {
      return opening.get(call, () -> open(shared));
    } catch (LockException e) {
      opening.close();
      throw e;
    }
  }

  private Session open(Session shared) throws IOException, TimeoutException {
    Session own = shared.another();
    Member end = own.endWithShared();
    shared.join(end);
    own.join(reason -> shared.leave(end));
    try {
      listener.opened(own);
    } catch (RuntimeException | Error e) {
      // The locks were closed in the meantime, or there is no thread: nothing verifies its lease.
      own.close();
      throw e;
    }
    return own;
  }
}
