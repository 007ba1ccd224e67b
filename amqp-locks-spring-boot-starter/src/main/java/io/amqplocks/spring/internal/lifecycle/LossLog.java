package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Logs each lost lease once, with the guarded method that works under it, if one does. It comes
 * before the application's own listeners, which may take their time.
 *
 * <p>Concurrency: a method is remembered for as long as it works, and no longer: {@link #ends} takes
 * it out whatever has become of the lease. A loss that is told only after that is logged without the
 * method.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class LossLog implements LockListener {

  private static final Logger log = LoggerFactory.getLogger(LossLog.class);

  private final Map<Lease, String> methods = new ConcurrentHashMap<>();

  /** The method begins to work under the lease. */
  public void begins(Lease lease, String method) {
    methods.put(lease, method);
  }

  /** The method has ended. */
  public void ends(Lease lease) {
    methods.remove(lease);
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration age) {
    String method = methods.get(lease);
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
