package io.amqplocks.spring;

/**
 * What a call of a guarded method does when others hold the lock.
 *
 * <p>This is about busy locks only. An outage does not pass for a busy lock: {@link OnUnavailable}
 * says what a call does if the broker cannot be reached. If the broker refuses, the call throws a
 * {@link io.amqplocks.lock.LockException}.
 *
 * <table>
 * <caption>How long a call waits, and what it does then</caption>
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
   * Waits for {@code maxWait}, or else for the lock's property {@code wait}, or else for {@code
   * amqp-locks.default-wait}. Then throws {@link
   * io.amqplocks.lock.LockException.AcquireTimeout}.
   */
  WAIT,
  /**
   * Throws {@link io.amqplocks.lock.LockException.AcquireTimeout} at once. It is an error at
   * startup if the annotation has a {@code maxWait} too.
   */
  THROW,
  /**
   * Skips the method, and returns an empty result: null, an empty {@code Optional}, a completed
   * {@code CompletionStage} of one of these, or an empty {@code Mono} or {@code Flux}. It is an
   * error at startup if the method returns a primitive, which has no such value. The call waits
   * first only if the annotation has a {@code maxWait}, whatever properties say.
   */
  SKIP,
  /**
   * Calls {@code fallbackMethod} instead of the method, with the same arguments and without any of
   * the locks. The call waits first only if the annotation has a {@code maxWait}, whatever
   * properties say.
   */
  FALLBACK
}
