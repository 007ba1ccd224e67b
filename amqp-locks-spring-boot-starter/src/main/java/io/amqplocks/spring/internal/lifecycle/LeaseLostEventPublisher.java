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

  /** Publishes there. */
  public LeaseLostEventPublisher(ApplicationEventPublisher events) {
    this.events = events;
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    events.publishEvent(new LeaseLostEvent(lease, reason));
  }
}
