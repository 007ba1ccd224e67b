package io.amqplocks.spring.internal.guard;

import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.spring.AmqpLocksCustomizer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the attempts of an application that found a lock busy. */
class BusyAttempts implements AmqpLocksCustomizer, LockListener {
  private final AtomicInteger number = new AtomicInteger();

  int number() {
    return number.get();
  }

  @Override
  public void customize(AmqpLocksBuilder builder) {
    builder.listener(this);
  }

  @Override
  public void notAcquired(LockId lock, Outcome outcome, Duration waited) {
    if (outcome == Outcome.BUSY) {
      number.incrementAndGet();
    }
  }
}
