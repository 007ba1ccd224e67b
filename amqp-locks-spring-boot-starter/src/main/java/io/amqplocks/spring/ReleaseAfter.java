package io.amqplocks.spring;

/** When the lease of a guarded call is released. */
public enum ReleaseAfter {
  /** When the method has ended. */
  METHOD,
  /**
   * When the caller's transaction has completed, by a commit or a rollback. So nobody else gets the
   * lock before the method's writes are visible. Without a transaction on the calling thread, the
   * lease is released when the method has ended.
   *
   * <p>If the caller's transaction takes part in an outer one, the outermost counts. A transaction
   * that the method itself begins has no effect, because it ends within the method. Until the
   * transaction completes, calls for the same lock on its thread join the lease. So do calls in a
   * transaction that suspends it ({@code REQUIRES_NEW}).
   *
   * <p>With {@link OnLost#FAIL} or {@link OnLost#INTERRUPT}, the broker is asked before the commit
   * whether the lease still stands. If it does not, the transaction is rolled back, and {@link
   * io.amqplocks.lock.LockException.Lost} is thrown instead. It is rolled back by {@link
   * io.amqplocks.lock.LockException.Unanswered} if the lease is uncertain and the broker does not
   * answer. That takes one round trip. A loss between this check and the commit is not noticed.
   *
   * <p>This is for methods that work on the calling thread, because the transaction belongs to that
   * thread. With {@code @Async}, a {@code CompletionStage}, a {@code Mono} or a {@code Flux} it is
   * an error at startup.
   */
  TRANSACTION
}
