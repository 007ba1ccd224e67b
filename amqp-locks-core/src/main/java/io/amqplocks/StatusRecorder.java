package io.amqplocks;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Records what {@code LocksStatus} reports about the past. */
final class StatusRecorder implements LockListener {

  private final InstantSource clock;
  private volatile @Nullable Loss last;

  private record Loss(String what, Instant when) {}

  StatusRecorder(InstantSource clock) {
    this.clock = clock;
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    last =
        new Loss(
            lease.lock() + ", slot " + lease.slot() + ": " + reason,
            clock.instant().truncatedTo(ChronoUnit.MILLIS));
  }

  Optional<String> lastLoss() {
    return Optional.ofNullable(last).map(Loss::what);
  }

  Optional<Instant> lastLossAt() {
    return Optional.ofNullable(last).map(Loss::when);
  }
}
