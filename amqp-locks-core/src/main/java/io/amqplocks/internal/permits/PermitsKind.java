package io.amqplocks.internal.permits;

import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.Variant;
import java.util.function.Supplier;

/**
 * A semaphore of which one lease may have several slots.
 *
 * @param one acquires a slot that is a lease by itself
 * @param part acquires a slot that is a part of a lease, of which no user hears
 * @param turns makes the claim on the mutex of the call that collects; only a call that waits needs
 *     it
 * @param count how many slots there are
 * @param leases creates the leases of several slots
 */
public record PermitsKind(
    Kind one, Kind part, Supplier<Claim> turns, SlotCount count, LeaseFactory leases)
    implements Kind {

  @Override
  public Claim claim(Variant variant) {
    return variant.permits() == 1
        ? one.claim(variant)
        : new PermitsClaim(variant.permits(), part.claim(variant), turns, count, leases);
  }

  @Override
  public boolean hasPriorities() {
    return one.hasPriorities();
  }

  @Override
  public boolean hasPermits() {
    return true;
  }
}
