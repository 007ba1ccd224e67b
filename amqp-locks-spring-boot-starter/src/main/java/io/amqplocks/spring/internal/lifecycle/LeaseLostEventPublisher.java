package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LeaseLostEvent;
import java.time.Duration;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes a {@link LeaseLostEvent} for each lost lease. */
public final class LeaseLostEventPublisher implements LockListener {

  private final ApplicationEventPublisher events;
  private volatile boolean notified;

  /** Publishes there. */
  public LeaseLostEventPublisher(ApplicationEventPublisher events) {
    this.events = events;
  }

  @Override
  public void sessionOpened() {
    notified = true;
  }

  @Override
  public void acquired(Lease lease, Duration waited) {
    notified = true;
  }

  /** Publishes a loss that somebody else noticed, unless the locks notify this of their losses. */
  public void lostUnnotified(Lease lease, LossReason reason) {
    if (!notified) {
      lost(lease, reason, lease.age());
    }
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    events.publishEvent(new LeaseLostEvent(lease, reason));
  }
}
