package io.amqplocks.spring.observation;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/** The context of an observed call or lease. */
public abstract class LockContext extends Observation.Context {

  private final LockId lock;
  private final String lockName;
  private volatile @Nullable Lease lease;
  private volatile String outcome = KeyValue.NONE_VALUE;

  LockContext(LockId lock, String lockName) {
    this.lock = lock;
    this.lockName = lockName;
  }

  /** Which lock it is about. */
  public final LockId getLock() {
    return lock;
  }

  /**
   * What metrics call it: its configured name, or {@code (other)} for names that neither a property
   * nor an annotation names.
   */
  public final String getLockName() {
    return lockName;
  }

  /** The lease; null before there is one. */
  public final @Nullable Lease getLease() {
    return lease;
  }

  /** How it ended: see {@link LockObservation.LowCardinality#OUTCOME}. */
  public final String getOutcome() {
    return outcome;
  }

  /** Sets the lease that the call acquired. */
  public final void setLease(Lease acquired) {
    lease = acquired;
  }

  /** Sets how it ended. */
  public final void setOutcome(String ended) {
    outcome = ended;
  }
}
