package io.amqplocks.internal.fencing;

import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A holding whose lease carries a token. The token is drawn when the slot is won, and after that the
 * broker is asked again whether the slot is still ours; only then is it held.
 *
 * <p>Why tokens follow the order of acquisitions: what was won cannot be lost and won again in one
 * attempt, so a yes after the draw means that the slot was ours at the draw. Whoever has it next wins
 * it, and therefore draws, later; and of two draws the later one is higher. Without that last question
 * it is wrong: the slot may be lost before the draw, another may win it and draw, and we draw a higher
 * number after it.
 */
final class FencedHolding implements Holding {

  private final Holding holding;
  private final TokenSource fence;
  private volatile @Nullable FencingToken token;

  FencedHolding(Holding holding, TokenSource fence) {
    this.holding = holding;
    this.fence = fence;
  }

  @Override
  public boolean contend(Call call, Session session) {
    return holding.contend(call, session);
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    if (!holding.secure(call, session, revoked)) {
      return false;
    }
    token = fence.draw(call, session, lock(), slot());
    Standing standing = holding.standing(call, session);
    if (standing == Standing.UNKNOWN) {
      throw call.unanswered("verify " + trace() + " after a fencing token was drawn");
    }
    return standing == Standing.OURS;
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    FencingToken drawn = token;
    return drawn == null ? holding.tokenIfAny() : Optional.of(drawn);
  }

  @Override
  public boolean mayBeHandedOver() {
    return false;
  }

  @Override
  public LockId lock() {
    return holding.lock();
  }

  @Override
  public int slot() {
    return holding.slot();
  }

  @Override
  public Standing standing(Call call, Session session) {
    return holding.standing(call, session);
  }

  @Override
  public void release(Call call, Session session) {
    holding.release(call, session);
  }

  @Override
  public long proofAgeNanos(Session session) {
    return holding.proofAgeNanos(session);
  }

  @Override
  public String trace() {
    return holding.trace();
  }

  @Override
  public LossReason loss() {
    return holding.loss();
  }
}
