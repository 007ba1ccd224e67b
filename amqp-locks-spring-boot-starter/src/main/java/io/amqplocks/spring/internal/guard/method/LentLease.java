package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.internal.async.ForwardingLease;
import io.amqplocks.spring.internal.async.MinimumHold;

/**
 * The lease as the work under it has it. The work may close it, and this is how that is told from a
 * release by others.
 *
 * <p>Concurrency: any thread of the work may close it. Whoever closes the locks in the same moment
 * may be taken for the work.
 */
final class LentLease extends ForwardingLease {

  private volatile boolean closed;

  LentLease(Lease lease) {
    super(lease);
  }

  /** Whether the work ended the lease by closing it. */
  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    boolean endedBefore = lease.state() == LeaseState.RELEASED;
    lease.close();
    // A nested call cannot close the lease that it has joined.
    if (!endedBefore && (lease.state() == LeaseState.RELEASED || MinimumHold.isClosed(lease))) {
      closed = true;
    }
  }

  @Override
  public String toString() {
    return lease.toString();
  }
}
