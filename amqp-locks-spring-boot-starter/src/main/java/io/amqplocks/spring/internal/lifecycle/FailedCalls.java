package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import java.time.Duration;

/** Whether a call for a lock has failed, be it the first one, so that no session was opened yet. */
public final class FailedCalls implements LockListener {

  private volatile boolean any;

  boolean any() {
    return any;
  }

  @Override
  public void notAcquired(LockId lock, Outcome outcome, Duration waited) {
    any |= outcome == Outcome.ERROR;
  }
}
