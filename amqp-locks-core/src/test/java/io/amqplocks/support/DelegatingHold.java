package io.amqplocks.support;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.util.Optional;
import java.util.function.Function;

/** A real holding, with room for a test to do something between its steps. */
public class DelegatingHold implements Hold {

  private final Hold real;

  /** Contends as the real one does; what is won is wrapped. */
  public static Contest contest(Contest real, Function<Hold, Hold> wrapped) {
    return (call, session) -> real.win(call, session).map(wrapped);
  }

  public DelegatingHold(Hold real) {
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
  public boolean secure(Call call, Session session, Runnable revoked) {
    return real.secure(call, session, revoked);
  }

  @Override
  public HoldStatus status(Call call, Session session) {
    return real.status(call, session);
  }

  @Override
  public boolean isInDoubt() {
    return real.isInDoubt();
  }

  @Override
  public boolean isUnderWay() {
    return real.isUnderWay();
  }

  @Override
  public void release(Call call, Session session) {
    real.release(call, session);
  }

  @Override
  public boolean mayBeHandedTo(boolean fenced) {
    return real.mayBeHandedTo(fenced);
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    return real.tokenIfAny();
  }

  @Override
  public void renumber() {
    real.renumber();
  }

  @Override
  public String queueName() {
    return real.queueName();
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
