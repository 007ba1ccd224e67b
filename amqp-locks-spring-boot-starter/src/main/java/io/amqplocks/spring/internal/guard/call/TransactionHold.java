package io.amqplocks.spring.internal.guard.call;

import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.guard.method.HeldLock;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Holds a lease until the transaction of this thread completes. Only this class needs spring-tx.
 *
 * <p>Concurrency: a transaction belongs to a thread, and Spring calls this on it. A JTA transaction
 * manager may report the completion on another thread. Then the lease is given back all the same.
 * The transaction's own thread does not join it any more, and forgets it when it next holds one.
 */
final class TransactionHold implements TransactionSynchronization, Ordered {

  private final HeldLock held;
  private final String where;
  private boolean verified;

  private TransactionHold(HeldLock held, String where) {
    this.held = held;
    this.where = where;
  }

  /**
   * Holds those leases whose guards say so, if this thread has a transaction.
   *
   * @param where the method, as messages name it
   */
  static void begin(Iterable<HeldLock> leases, String where) {
    if (TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive()) {
      for (HeldLock each : leases) {
        if (each.request().guard().releaseAfter() == ReleaseAfter.TRANSACTION) {
          hold(each, where);
        }
      }
    }
  }

  private static void hold(HeldLock lock, String where) {
    TransactionHold hold = null;
    for (TransactionSynchronization each :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (each instanceof TransactionHold known && known.isOf(lock)) {
        hold = known;
      }
    }
    if (hold == null) {
      hold = new TransactionHold(lock, where);
      TransactionSynchronizationManager.registerSynchronization(hold);
      LeaseScope.hold(lock.outer());
    }
    hold.verified |= lock.request().guard().onLost() != OnLost.NOTIFY;
  }

  /** Whether this holds the same lock. It does not if its lease was closed meanwhile. */
  private boolean isOf(HeldLock other) {
    return !held.outer().isClosed()
        && held.request().wanted().lock().equals(other.request().wanted().lock());
  }

  /** Runs after all other synchronizations, which may still write. */
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public void beforeCommit(boolean readOnly) {
    if (verified) {
      LeaseState state = held.lease().state();
      if (state != LeaseState.LOST) {
        state = held.lease().verify();
      }
      if (held.isLost(state)) {
        throw of(
            new LockException.Lost(
                "The %s was lost before the transaction was committed in which %s worked under it: %s. The transaction is rolled back"
                    .formatted(held.request().name(), where, held.reason()),
                null));
      }
      if (state == LeaseState.UNCERTAIN) {
        throw of(
            new LockException.Unanswered(
                "The broker did not confirm the %s before the commit of the transaction in which %s worked under it. The transaction is rolled back"
                    .formatted(held.request().name(), where)));
      }
    }
  }

  private LockException of(LockException failure) {
    failure.initLock(held.lease().lock());
    return failure;
  }

  @Override
  public void afterCompletion(int status) {
    LeaseScope.letGo(held.outer());
  }
}
