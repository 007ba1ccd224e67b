package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;

/** A source of fencing tokens. Each token is higher than all earlier ones for the same slot. */
@FunctionalInterface
public interface FencingTokenSource {

  /**
   * Draws a token.
   *
   * @throws LockException.FenceUnavailable if there is no token that can be relied on
   * @throws LockException.Unanswered if others were drawing all the time
   */
  FencingToken draw(Call call, Session session, LockId lock, int slot);
}
