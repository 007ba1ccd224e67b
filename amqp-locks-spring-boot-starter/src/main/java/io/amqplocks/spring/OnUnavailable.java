package io.amqplocks.spring;

/**
 * What a call of a guarded method does when the broker is unavailable, so that nobody can say
 * whether the lock is free.
 *
 * <p>The broker is unavailable if there is no connection and none can be opened, if the connection
 * breaks, and if the broker does not do its part within {@code amqp-locks.call-timeout}: {@link
 * io.amqplocks.lock.LockException#isOutage()}. A busy lock is never an outage, see {@link OnBusy}.
 * Nor are refused credentials and permissions, or a lock that does not exist. With each value, the
 * call throws these.
 *
 * <p>With all values but {@link #WAIT}, the call does not wait for the broker. It notices an outage
 * within the call timeout, or twice that time if it has to open a connection. Calls that come while
 * attempts to connect fail one after the other do not wait at all, except for one call after each
 * pause between attempts, which is two seconds at most. A call that waits for a busy lock notices
 * it when the connection breaks.
 */
public enum OnUnavailable {
  /**
   * The value of the property {@code amqp-locks.annotations.on-unavailable}, by default {@link
   * #WAIT}.
   */
  DEFAULT,
  /**
   * Asks the broker again until {@code maxWait} is over, as for a busy lock. Then throws {@link
   * io.amqplocks.lock.LockException.Unreachable} or {@link
   * io.amqplocks.lock.LockException.Unanswered}. If this process has never had a connection, the
   * call throws at once.
   */
  WAIT,
  /** Throws the same exceptions as {@link #WAIT}, but at once. */
  FAIL,
  /**
   * Skips the method at once, and returns an empty result as {@link OnBusy#SKIP} does. It is an
   * error at startup if the method returns a primitive.
   */
  SKIP,
  /**
   * Calls {@code fallbackMethod} at once, with the same arguments and without any of the locks, as
   * {@link OnBusy#FALLBACK} does. The method may have a last parameter for the exception; it must
   * be a {@link io.amqplocks.lock.LockException} or a supertype.
   */
  FALLBACK,
  /**
   * Runs the method at once, <strong>without the lock</strong>: more calls may then work at once
   * than the lock allows. Each such call is counted by the meter {@code amqp.locks.unguarded}. A
   * WARN names lock and method, at most every ten seconds for each. It is an error at startup if
   * the method needs the lease or its fencing token.
   */
  RUN
}
