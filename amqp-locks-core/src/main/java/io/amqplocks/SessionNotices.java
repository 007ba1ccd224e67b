package io.amqplocks;

import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockListener;

/** Passes the session's life on to the listeners. */
record SessionNotices(Notices notices) implements Sessions.SessionListener {

  @Override
  public void opened() {
    notices.post(LockListener::sessionOpened);
  }

  @Override
  public void ended(String why) {
    notices.post(listener -> listener.sessionEnded(why));
  }
}
