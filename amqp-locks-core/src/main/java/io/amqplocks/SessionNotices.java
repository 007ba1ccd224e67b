package io.amqplocks;

import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.lease.Verification;
import io.amqplocks.internal.probe.SelfCheck;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockListener;

/** With each session its broker is checked, its leases are verified, and listeners hear of its life. */
record SessionNotices(Notices notices, Verification verification, SelfCheck selfCheck)
    implements Sessions.SessionListener {

  @Override
  public void opened(Session session) {
    notices.post(LockListener::sessionOpened);
    verification.begin(session);
    selfCheck.begin(session);
    session.join(reason -> notices.post(listener -> listener.sessionEnded(reason.detail())));
  }
}
