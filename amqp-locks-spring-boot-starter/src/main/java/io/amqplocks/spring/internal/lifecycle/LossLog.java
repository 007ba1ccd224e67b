package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Logs each lost lease once, with the guarded method that works under it, if one does. It comes
 * before the application's own listeners, which may take their time.
 *
 * <p>Concurrency: a method is remembered for as long as it works, and no longer: {@link #ends}
 * takes it out whatever has become of the lease. A loss that is told only after that is logged
 * without the method. A lease that is kept on is remembered until it is released or lost; if that
 * happened before it was remembered, it is forgotten at once.
 *
 * <p>An {@code AmqpLocks} of the application's own may have been built without this listener. Until
 * any notice has come, the leases of guarded methods are asked for their loss.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class LossLog implements LockListener {

  private static final Logger log = LoggerFactory.getLogger(LossLog.class);

  /** What is to be said of a lease besides. */
  private final Map<Lease, String> remarks = new ConcurrentHashMap<>();

  private final BiConsumer<Lease, LossReason> events;
  private volatile boolean notified;

  /** A log only. */
  public LossLog() {
    this((lease, reason) -> {});
  }

  /**
   * A log of lost leases.
   *
   * @param events also gets what this was not notified of by the locks
   */
  public LossLog(BiConsumer<Lease, LossReason> events) {
    this.events = events;
  }

  /** The method begins to work under the lease. */
  public void begins(Lease lease, String method) {
    remarks.put(lease, ", while " + method + " worked under it");
    if (!notified) {
      ask(lease);
    } else if (lease.state() == LeaseState.RELEASED) {
      remarks.remove(lease); // a call that was cancelled has ended before it began
    }
  }

  private void ask(Lease lease) {
    try {
      var unused = lease.whenLost().thenAccept(reason -> lostUnnotified(lease, reason));
    } catch (RuntimeException e) {
      // As of a stand-in in a test. What is logged must not decide whether a method runs.
      log.debug("Nobody will be told of a loss of {}", lease, e);
    }
  }

  private void lostUnnotified(Lease lease, LossReason reason) {
    if (notified) {
      return;
    }
    log(lease, reason, lease.age());
    try {
      events.accept(lease, reason);
    } catch (RuntimeException e) {
      log.warn("A listener of the loss of {} failed", lease, e);
    }
  }

  /** The method has ended. */
  public void ends(Lease lease) {
    remarks.remove(lease);
  }

  /** The method has ended, and the lease is kept for something else. */
  public void keeps(Lease lease, String method, String what) {
    remarks.put(lease, ", after " + method + " had ended: it was kept for " + what);
    if (!notified) {
      remarks.keySet().removeIf(LossLog::isOver); // nobody tells when one was released
    } else if (isOver(lease)) {
      remarks.remove(lease);
    }
  }

  /** Whether nothing more will be told of the lease. */
  public static boolean isOver(Lease lease) {
    LeaseState state = lease.state();
    return state == LeaseState.LOST || state == LeaseState.RELEASED;
  }

  /** Locks were built with this listener, so their notices will come. */
  public void listens() {
    notified = true;
  }

  @Override
  public void sessionOpened() {
    notified = true;
  }

  @Override
  public void acquired(Lease lease, Duration waited) {
    notified = true;
  }

  @Override
  public void released(Lease lease, Duration held) {
    remarks.remove(lease);
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration age) {
    log(lease, reason, age);
  }

  private void log(Lease lease, LossReason reason, Duration age) {
    String remark = remarks.getOrDefault(lease, "");
    String held = lease.permits() == 1 ? "slot " + lease.slot() : lease.permits() + " permits";
    log.warn(
        "Lost the lease of {} of the {} after {}{}: {}. Others may hold it now",
        held,
        lease.lock(),
        age,
        remark,
        reason);
  }
}
