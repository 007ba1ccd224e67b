package io.amqplocks.sample.worker;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.spring.LeaseLostEvent;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** Logs which slots this worker takes, releases and loses. */
@Component
@Profile("worker")
class SlotLog implements LockListener {

  private static final Logger log = LoggerFactory.getLogger(SlotLog.class);

  @Override
  public void acquired(Lease lease, Duration waited) {
    log.info("{}: slot {} taken after {} ms", lease.lock(), lease.slot(), waited.toMillis());
  }

  @Override
  public void released(Lease lease, Duration held) {
    log.info("{}: slot {} released after {} ms", lease.lock(), lease.slot(), held.toMillis());
  }

  /** Hears of a loss as {@link #lost} does, by an event of Spring. */
  @EventListener
  void leaseLost(LeaseLostEvent event) {
    Lease lease = event.lease();
    log.warn("{}: slot {} lost: {}", lease.lock(), lease.slot(), event.reason());
  }
}
