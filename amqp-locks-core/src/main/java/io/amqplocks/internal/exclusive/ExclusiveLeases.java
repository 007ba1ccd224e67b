package io.amqplocks.internal.exclusive;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.LeaseSessions;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.Optional;

/**
 * Creates leases that are held by an exclusive queue. Where a lost race closes the connection, each
 * attempt has a session of its own, so it risks nothing else. If it succeeds, that session belongs
 * to the lease, and ends with it (ADR 84).
 *
 * @param leases creates the leases
 * @param sessions opens sessions of their own for them
 */
public record ExclusiveLeases(LeaseFactory leases, LeaseSessions sessions) implements LeaseFactory {

  @Override
  public Optional<HeldLease> take(Call call, Session session, Hold.Contest contest) {
    if (!session.broker().isConnectionClosedByLostRace()) {
      return leases.take(call, session, contest);
    }
    Session own = sessions.open(call, session);
    Optional<HeldLease> lease = Optional.empty();
    try {
      lease = leases.take(call, own, contest);
      return lease;
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      // The caller has waited long enough for this broker.
      own.end(new LossReason(Cause.SESSION_ENDED, "the attempt got no answer"));
      throw e;
    } finally {
      if (lease.isEmpty()) {
        own.close();
      }
    }
  }
}
