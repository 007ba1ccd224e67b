package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A kind of lock that is acquired in the same way whether its lease is to have a fencing token or
 * not. Only what creates the lease differs. A lock may be made for one acquire, so each of its two
 * claims is made when it is first used, and kept.
 *
 * <p>Concurrency: a claim has no state of its own. If two threads make it at the same time, it does
 * not matter which one is kept.
 */
public final class FenceableKind implements Kind {

  private final Function<LeaseFactory, Claim> claims;
  private final LeaseFactory unfencedLeases;
  private final LeaseFactory fencedLeases;
  private volatile @Nullable Claim unfenced;
  private volatile @Nullable Claim fenced;

  /**
   * Creates a kind.
   *
   * @param claims how a slot is acquired by leases of that factory
   * @param unfencedLeases creates leases without a fencing token
   * @param fencedLeases creates leases with one
   */
  public FenceableKind(
      Function<LeaseFactory, Claim> claims,
      LeaseFactory unfencedLeases,
      LeaseFactory fencedLeases) {
    this.claims = claims;
    this.unfencedLeases = unfencedLeases;
    this.fencedLeases = fencedLeases;
  }

  @Override
  public Claim claim(Variant variant) {
    Claim made = variant.fenced() ? fenced : unfenced;
    return made == null ? make(variant.fenced()) : made;
  }

  private Claim make(boolean withToken) {
    if (withToken) {
      Claim made = claims.apply(fencedLeases);
      fenced = made;
      return made;
    }
    Claim made = claims.apply(unfencedLeases);
    unfenced = made;
    return made;
  }
}
