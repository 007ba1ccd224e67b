package io.amqplocks.spring;

/**
 * What happens when the lease is lost while the guarded method runs: the connection broke, or an
 * operator took the lock away. Others may then have it, and work at the same time.
 *
 * <p>In each case a {@link LeaseLostEvent} is published. None of them undoes what the method did, not
 * even a transaction, which is committed by the time that the locks look: where a late write would
 * do harm, let the resource check a {@link io.amqplocks.lock.FencingToken}.
 */
public enum OnLost {
  /** The method goes on, and its result counts. */
  NOTIFY,
  /**
   * As {@link #FAIL}, and the thread that runs the method is interrupted as soon as the loss is
   * known, so that what it waits for ends early. The interrupt does not outlive the method: if it did
   * not take notice, the flag is cleared. For methods that do their work on the calling thread; with
   * a {@code CompletionStage}, {@code Mono} or {@code Flux} it is an error at startup.
   */
  INTERRUPT,
  /**
   * The method goes on, but its caller does not get the result. When it ends, the broker is asked
   * whether the lease still stands, which costs one round trip. If it does not, the call throws
   * {@link io.amqplocks.lock.LockException.Lost}, whose cause is what the method threw, if it threw.
   * If the broker does not answer, and the lease is no longer certain (nothing was heard of the broker
   * for a while), a result is withheld as well, by {@link io.amqplocks.lock.LockException.Unanswered}; what
   * the method threw is passed on. If the lease is certain without an answer, the result counts.
   *
   * <p>A {@code Flux} looks at its end: its subscriber has had the elements by then, and gets the
   * failure in place of the completion.
   */
  FAIL
}
