package io.amqplocks.internal.fencing;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;

/** Gives tokens, each higher than all that it gave before for the same slot. */
@FunctionalInterface
public interface TokenSource {

  /**
   * Draws a token.
   *
   * @throws LockException.FenceUnavailable if there is none that could be relied on
   */
  FencingToken draw(Call call, Session session, LockId lock, int slot);
}
