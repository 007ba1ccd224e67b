package io.amqplocks.spring;

/**
 * What a call of a guarded method does when the lock is held by others.
 *
 * <p>This is about busy locks only. A broker that cannot be reached or that refuses is thrown as a
 * {@link io.amqplocks.lock.LockException} in each case, lest an outage pass for a busy lock.
 *
 * <table>
 * <caption>How long each waits, and then</caption>
 * <tr><th></th><th>waits</th><th>then</th></tr>
 * <tr><td>{@link #WAIT}</td><td>{@code maxWait}, or as configured</td><td>throws</td></tr>
 * <tr><td>{@link #THROW}</td><td>not at all</td><td>throws</td></tr>
 * <tr><td>{@link #SKIP}</td><td>{@code maxWait}, or not at all</td><td>returns nothing</td></tr>
 * <tr><td>{@link #FALLBACK}</td><td>{@code maxWait}, or not at all</td>
 *     <td>calls another method</td></tr>
 * </table>
 */
public enum OnBusy {
  /**
   * Waits for as long as {@code maxWait} says, or else the lock's property {@code wait}, or else
   * {@code amqp-locks.default-wait}. Then throws {@link
   * io.amqplocks.lock.LockException.AcquireTimeout}.
   */
  WAIT,
  /**
   * Throws {@link io.amqplocks.lock.LockException.AcquireTimeout} at once. A {@code maxWait} beside
   * it is an error at startup.
   */
  THROW,
  /**
   * The method does not run and the call returns nothing: null, an empty {@code Optional}, a
   * completed {@code CompletionStage} of one of these, an empty {@code Mono} or {@code Flux}. A
   * method that returns a primitive has no such value, which is an error at startup. Waits before
   * that only if the annotation has a {@code maxWait}, whatever properties say.
   */
  SKIP,
  /**
   * The method does not run; {@code fallbackMethod} does, with the same arguments and without any of
   * the locks. Waits before that only if the annotation has a {@code maxWait}, whatever properties
   * say.
   */
  FALLBACK
}
