package io.amqplocks.internal.fencing;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/**
 * Takes leases that carry a fencing token, of whatever they are held by.
 *
 * @param leases where they are entered
 * @param fence where the tokens come from
 */
public record FencedLeases(Taking leases, TokenSource fence) implements Taking {

  @Override
  public Optional<HeldLease> take(Call call, Session session, Holding holding) {
    return leases.take(call, session, new FencedHolding(holding, fence));
  }
}
