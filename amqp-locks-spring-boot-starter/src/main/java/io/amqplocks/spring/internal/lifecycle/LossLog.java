package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs each lost lease once, with the guarded method that works under it, if one does.
 *
 * <p>Concurrency: a lease that has ended before it is looked at in {@link #begins} is taken out again
 * there. One that is lost later is told to the listener after it was put in, and taken out there.
 * One that is released later is taken out by {@link #ends}. So no lease stays.
 */
public final class LossLog implements LockListener {

  private static final Logger log = LoggerFactory.getLogger(LossLog.class);

  private final Map<Lease, String> methods = new ConcurrentHashMap<>();

  /** The method begins to work under the lease. */
  public void begins(Lease lease, String method) {
    methods.put(lease, method);
    LeaseState state = lease.state();
    if (state == LeaseState.LOST || state == LeaseState.RELEASED) {
      methods.remove(lease);
    }
  }

  /** The method has ended. A loss that has not been told yet is still told with the method. */
  public void ends(Lease lease) {
    if (lease.state() != LeaseState.LOST) {
      methods.remove(lease);
    }
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration age) {
    String method = methods.remove(lease);
    String held = lease.permits() == 1 ? "slot " + lease.slot() : lease.permits() + " permits";
    log.warn(
        "Lost the lease of {} of the {} after {}{}: {}. Others may hold it now",
        held,
        lease.lock(),
        age,
        method == null ? "" : ", while " + method + " worked under it",
        reason);
  }
}
