package io.amqplocks.lock;

/**
 * How sure the holder may be of its lease. HELD and UNCERTAIN alternate; LOST and RELEASED are
 * final.
 */
public enum LeaseState {
  /**
   * The broker confirmed the lease so recently that it cannot have dropped a silent connection since.
   * A deleted queue, or a connection whose end this side hears of, still make this a few milliseconds
   * stale; a connection that ends at the broker only, for as long as silence goes unnoticed: 1.75
   * heartbeats, or a shorter time that the settings say. Where that could do harm, the resource must check
   * for itself.
   */
  HELD,
  /** The broker has not confirmed the lease for too long; somebody else may have it by now. */
  UNCERTAIN,
  /** The lease is gone, for good. The holder must stop what it does under it. */
  LOST,
  /** The holder gave the lease back. */
  RELEASED
}
