package io.amqplocks;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Remembers what an operator will ask for. */
final class StatusRecorder implements LockListener {

  private volatile @Nullable String lastLoss;

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    lastLoss = lease.lock() + ", slot " + lease.slot() + ": " + reason;
  }

  Optional<String> lastLoss() {
    return Optional.ofNullable(lastLoss);
  }
}
