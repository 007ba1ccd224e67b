package io.amqplocks.support;

import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.util.Optional;

/** A real holding, with room for a test to do something between its steps. */
public class DelegatingHolding implements Holding {

  private final Holding real;

  public DelegatingHolding(Holding real) {
    this.real = real;
  }

  @Override
  public LockId lock() {
    return real.lock();
  }

  @Override
  public int slot() {
    return real.slot();
  }

  @Override
  public boolean contend(Call call, Session session) {
    return real.contend(call, session);
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    return real.secure(call, session, revoked);
  }

  @Override
  public Standing standing(Call call, Session session) {
    return real.standing(call, session);
  }

  @Override
  public void release(Call call, Session session) {
    real.release(call, session);
  }

  @Override
  public boolean mayBeHandedOver() {
    return real.mayBeHandedOver();
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    return real.tokenIfAny();
  }

  @Override
  public String trace() {
    return real.trace();
  }

  @Override
  public long proofAgeNanos(Session session) {
    return real.proofAgeNanos(session);
  }

  @Override
  public LossReason loss() {
    return real.loss();
  }
}
