package io.amqplocks.spring;

/** When the lease of a guarded call is released. */
public enum ReleaseAfter {
  /** When the method has ended. */
  METHOD,
  /**
   * When the transaction has completed in which the method was called, by a commit or a rollback. So
   * nobody else gets the lock while what the method wrote is not visible yet. Without a transaction
   * on the calling thread, it is released when the method has ended.
   *
   * <p>It is the outermost transaction that counts, if methods take part in that of their caller; a
   * transaction that the method itself begins does not, since that ends within the method anyway.
   * Calls of the same lock on the thread of the transaction join its lease until it completes, and
   * so do those in a transaction that suspends it ({@code REQUIRES_NEW}).
   *
   * <p>With {@link OnLost#FAIL} or {@link OnLost#INTERRUPT}, the broker is asked before the commit
   * whether the lease still stands. If it does not, the transaction is rolled back, and {@link
   * io.amqplocks.lock.LockException.Lost} is thrown instead. It is rolled back by {@link
   * io.amqplocks.lock.LockException.Unanswered} if the lease is uncertain and the broker does not
   * answer. That takes one round trip. A loss between that and the commit is not noticed.
   *
   * <p>This is for methods that work on the calling thread, to which their transaction belongs. With
   * {@code @Async}, a {@code CompletionStage}, a {@code Mono} or a {@code Flux} it is an error at
   * startup.
   */
  TRANSACTION
}
