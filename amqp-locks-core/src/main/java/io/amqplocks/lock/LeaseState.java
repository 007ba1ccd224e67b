package io.amqplocks.lock;

/**
 * How sure the holder may be of its lease. HELD and UNCERTAIN alternate; LOST and RELEASED are
 * final.
 */
public enum LeaseState {
  /**
   * The broker confirmed the lease so recently that it cannot have dropped a silent connection
   * since. This can be stale. After a deleted queue, or the end of a connection that this side
   * notices, it is so for milliseconds. After the end of a connection that only the broker notices,
   * it is so for up to 1.75 heartbeats, or the shorter time of {@code certainFor}. A token that the
   * broker gave away without telling its holder is found out at the next verification. Where that
   * could do harm, the resource must check for itself.
   */
  HELD,
  /** The broker has not confirmed the lease for too long; somebody else may have it by now. */
  UNCERTAIN,
  /** The lease is gone, for good. The holder must stop what it does under it. */
  LOST,
  /** The holder gave the lease back. */
  RELEASED
}
