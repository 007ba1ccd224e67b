package io.amqplocks;

import io.amqplocks.internal.lease.EventDispatcher;
import io.amqplocks.internal.lease.PeriodicVerification;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.slots.probe.SelfCheck;
import io.amqplocks.lock.LockListener;

/**
 * Prepares each new session: checks its broker, starts the verification of its leases, and notifies
 * listeners when it opens and ends.
 */
record SessionSetup(EventDispatcher notices, PeriodicVerification verification, SelfCheck selfCheck)
    implements Sessions.SessionListener {

  @Override
  public void opened(Session session) {
    notices.post(LockListener::sessionOpened);
    verification.begin(session);
    selfCheck.begin(session);
    session.join(reason -> notices.post(listener -> listener.sessionEnded(reason.detail())));
  }
}
