package io.amqplocks.lock;

import org.jspecify.annotations.Nullable;

/**
 * Follows each call for a lock, and each lease, from beginning to end. It is meant for tracing,
 * which needs the thread of the call. To count events, a {@link LockListener} is better because it
 * delays nobody. An exception is logged and has no other effect. A method that blocks delays the
 * caller.
 */
@FunctionalInterface
public interface LockObserver {

  /** An observer that does nothing. */
  LockObserver NO_OP = lock -> Attempt.NO_OP;

  /**
   * A call for a lock begins. Called on the caller's thread.
   *
   * @return what follows the call
   */
  Attempt begin(LockId lock);

  /** Follows one call. Exactly one of its methods is called, once. */
  interface Attempt {

    /** Does nothing. */
    Attempt NO_OP = new Attempt() {};

    /**
     * The call acquired a lease, which the caller is about to receive. Called on the caller's
     * thread, unless the call was asynchronous.
     *
     * @return what follows the lease
     */
    default Hold acquired(Lease lease) {
      return Hold.NO_OP;
    }

    /**
     * The call ended without a lease. Called on the caller's thread, unless the call was
     * asynchronous.
     *
     * @param failure the exception that is thrown; null if none is, or if the lock was busy
     *     for a call that would not wait
     */
    default void notAcquired(LockListener.Outcome outcome, @Nullable Throwable failure) {}
  }

  /** Follows one lease. Exactly one of its methods is called, once. */
  interface Hold {

    /** Does nothing. */
    Hold NO_OP = new Hold() {};

    /** The holder released the lease, on this thread. */
    default void released() {}

    /** The lease was lost. Called on a thread of the library, one call at a time. */
    default void lost(LossReason reason) {}
  }
}
