package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A hold whose lease carries a fencing token. The token is drawn when the slot is won. After that
 * the broker is asked again whether the slot is still ours. Only then is it held.
 *
 * <p>Tokens follow the order of acquisitions. A slot that was won cannot be lost and won again in
 * one attempt. So a positive answer after the draw means that the slot was ours at the draw. The
 * next holder wins the slot later, and therefore draws later. Of two draws the later one is higher.
 *
 * <p>Without that last request this would be wrong. The slot may be lost before the draw, another
 * client may win it and draw, and we would draw a higher number after that.
 */
public final class FencedHold implements Hold {

  private final Hold hold;
  private final FencingTokenSource fence;
  private volatile @Nullable FencingToken token;

  FencedHold(Hold hold, FencingTokenSource fence) {
    this.hold = hold;
    this.fence = fence;
  }

  /** A contest for a hold whose lease carries a token of that source. */
  public static Contest contest(Contest contest, FencingTokenSource fence) {
    return (call, session) -> contest.win(call, session).map(hold -> new FencedHold(hold, fence));
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    if (!hold.secure(call, session, revoked)) {
      return false;
    }
    token = fence.draw(call, session, lock(), slot());
    HoldStatus status = hold.status(call, session);
    if (status == HoldStatus.UNKNOWN) {
      throw call.unanswered("verify " + queueName() + " after a fencing token was drawn");
    }
    return status == HoldStatus.OURS;
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    FencingToken drawn = token;
    return drawn == null ? hold.tokenIfAny() : Optional.of(drawn);
  }

  @Override
  public boolean isInDoubt() {
    return hold.isInDoubt();
  }

  @Override
  public boolean isUnderWay() {
    return hold.isUnderWay();
  }

  @Override
  public boolean mayBeHandedTo(boolean fenced) {
    return fenced && hold.mayBeHandedTo(false);
  }

  @Override
  public LockId lock() {
    return hold.lock();
  }

  @Override
  public int slot() {
    return hold.slot();
  }

  @Override
  public HoldStatus status(Call call, Session session) {
    return hold.status(call, session);
  }

  @Override
  public void release(Call call, Session session) {
    hold.release(call, session);
  }

  @Override
  public boolean isPushed() {
    return hold.isPushed();
  }

  @Override
  public long proofAgeNanos(Session session) {
    return hold.proofAgeNanos(session);
  }

  @Override
  public String queueName() {
    return hold.queueName();
  }

  @Override
  public LossReason loss() {
    return hold.loss();
  }
}
