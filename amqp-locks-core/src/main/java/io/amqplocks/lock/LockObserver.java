package io.amqplocks.lock;

import org.jspecify.annotations.Nullable;

/**
 * Follows each call for a lock, and each lease, from its beginning to its end: for tracing, which needs
 * the thread of the call. What only counts things is better off as a {@link LockListener}, which holds
 * nobody up. An exception is logged and hurts nobody; one that blocks holds up whoever calls.
 */
@FunctionalInterface
public interface LockObserver {

  /** An observer of nothing. */
  LockObserver NO_OP = lock -> Attempt.NO_OP;

  /**
   * A call for a lock begins, on the caller's thread.
   *
   * @return what follows it
   */
  Attempt begin(LockId lock);

  /** Follows one call; exactly one of its methods is called, once. */
  interface Attempt {

    /** A call that nobody follows. */
    Attempt NO_OP = new Attempt() {};

    /**
     * It brought a lease, which the caller is about to be given. On the caller's thread, unless the call
     * was asynchronous.
     *
     * @return what follows the lease
     */
    default Hold acquired(Lease lease) {
      return Hold.NO_OP;
    }

    /**
     * It ended without a lease. On the caller's thread, unless the call was asynchronous.
     *
     * @param failure what is thrown; null if nothing is
     */
    default void notAcquired(LockListener.Outcome outcome, @Nullable Throwable failure) {}
  }

  /** Follows one lease; exactly one of its methods is called, once. */
  interface Hold {

    /** A lease that nobody follows. */
    Hold NO_OP = new Hold() {};

    /** Its holder gave it back, on this thread. */
    default void released() {}

    /** It was lost; on a thread of the library, one at a time. */
    default void lost(LossReason reason) {}
  }
}
