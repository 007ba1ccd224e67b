package io.amqplocks.spring.observation;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/** What is known of a call or a lease that is observed. */
public abstract class LockContext extends Observation.Context {

  private final LockId lock;
  private final String lockName;
  private volatile @Nullable Lease lease;
  private volatile String outcome = KeyValue.NONE_VALUE;

  LockContext(LockId lock, String lockName) {
    this.lock = lock;
    this.lockName = lockName;
  }

  /** The lock. */
  public final LockId getLock() {
    return lock;
  }

  /** What metrics call it: its configured name, or {@link io.amqplocks.spring.MetricNames#OTHER}. */
  public final String getLockName() {
    return lockName;
  }

  /** The lease; null before there is one. */
  public final @Nullable Lease getLease() {
    return lease;
  }

  /** How it ended, as {@link LockObservation.LowCardinality#OUTCOME} says. */
  public final String getOutcome() {
    return outcome;
  }

  final void setLease(Lease acquired) {
    lease = acquired;
  }

  final void setOutcome(String ended) {
    outcome = ended;
  }
}
