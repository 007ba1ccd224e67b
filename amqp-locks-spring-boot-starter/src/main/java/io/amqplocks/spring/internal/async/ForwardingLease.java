package io.amqplocks.spring.internal.async;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A lease that is another one, but for its end: who extends this says what a close does. */
public abstract class ForwardingLease implements Lease {

  protected final Lease lease;

  protected ForwardingLease(Lease lease) {
    this.lease = lease;
  }

  @Override
  public LockId lock() {
    return lease.lock();
  }

  @Override
  public int slot() {
    return lease.slot();
  }

  @Override
  public int permits() {
    return lease.permits();
  }

  @Override
  public FencingToken fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public Optional<FencingToken> fencingTokenIfAny() {
    return lease.fencingTokenIfAny();
  }

  @Override
  public List<FencingToken> fencingTokens() {
    return lease.fencingTokens();
  }

  @Override
  public LeaseState state() {
    return lease.state();
  }

  @Override
  public LeaseState verify() {
    return lease.verify();
  }

  @Override
  public Optional<LossReason> lossReason() {
    return lease.lossReason();
  }

  @Override
  public CompletionStage<LossReason> whenLost() {
    return lease.whenLost();
  }

  @Override
  public Duration age() {
    return lease.age();
  }
}
