package io.amqplocks.spring.observation;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import org.jspecify.annotations.Nullable;

/** The context of an observed lease. */
public final class LockHoldContext extends LockContext {

  private volatile @Nullable LossReason lossReason;

  /** The context of a lease that begins. */
  public LockHoldContext(LockId lock, String lockName) {
    super(lock, lockName);
  }

  /** Why the lease was lost; null if it was not. */
  public @Nullable LossReason getLossReason() {
    return lossReason;
  }

  /** Sets why the lease was lost. */
  public void setLossReason(LossReason reason) {
    lossReason = reason;
  }
}
