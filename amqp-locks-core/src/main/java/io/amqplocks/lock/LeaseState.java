package io.amqplocks.lock;

/**
 * How sure a holder may be of its lease. HELD and UNCERTAIN may alternate. LOST and RELEASED are
 * final.
 */
public enum LeaseState {
  /**
   * The broker confirmed the lease so recently that it cannot have dropped a silent connection
   * since.
   *
   * <p>This state may be stale. After a queue was deleted, or a connection ended and this side
   * noticed it, the state is stale for milliseconds. After a connection ended and only the broker
   * noticed it, the state is stale for up to 1.75 heartbeats, or the shorter time of {@code
   * certainFor}. If the broker gave a token away without notice, the next verification finds out.
   * If somebody else's message took the token's place during a verification, the state is stale for
   * up to 0.1 s.
   * Where that could do harm, the resource must check for itself.
   */
  HELD,
  /**
   * Somebody else may hold the slot by now: the broker has not confirmed the lease for too long, or
   * it sent something other than the lease's token at a verification.
   */
  UNCERTAIN,
  /** The lease is gone, for good. The holder must stop the work that it does under it. */
  LOST,
  /** The holder released the lease. */
  RELEASED
}
