package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/**
 * A claim on a lock whose holders say when they give it back.
 *
 * @param claim the claim
 * @param wakeQueue where they say so
 */
public record WokenClaim(Claim claim, String wakeQueue) implements Claim {

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    return claim.attempt(call, session);
  }

  @Override
  public Vigil keepVigil(Call call, Session session, Runnable wake) {
    return new WakeVigil(claim, session, session.wakes().listen(call, wakeQueue, wake));
  }
}
