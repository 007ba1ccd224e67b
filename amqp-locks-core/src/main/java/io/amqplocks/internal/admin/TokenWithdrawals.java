package io.amqplocks.internal.admin;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

/**
 * The withdrawals that this process carries on: one thread for each token semaphore that was made
 * smaller here, until the last token that is too many came back.
 *
 * <p>Concurrency: each change of the map is atomic for its key. A withdrawal leaves the map as its last
 * act, unless it was asked for again since it last looked; then it looks again. So either it sees what is
 * new, or a new one is begun.
 */
public final class TokenWithdrawals implements AutoCloseable {

  private final Map<LockId, TokenWithdrawal> running = new ConcurrentHashMap<>();
  private final ThreadFactory threads;
  private volatile boolean closed;

  /** None yet. */
  public TokenWithdrawals(ThreadFactory threads) {
    this.threads = threads;
  }

  /** The semaphore was changed by this process, and so many tokens are still to be withdrawn. */
  void update(TokenTurn turn, int pending) {
    if (pending == 0) {
      TokenWithdrawal needless = running.get(turn.lock());
      if (needless != null) {
        needless.lookAgain();
      }
      return;
    }
    running.compute(
        turn.lock(),
        (lock, present) -> {
          if (present != null) {
            present.lookAgain();
            return present;
          }
          TokenWithdrawal withdrawal = new TokenWithdrawal(turn, this);
          threads.newThread(withdrawal).start();
          return withdrawal;
        });
    if (closed) {
      close();
    }
  }

  /** Whether the withdrawal may end now. */
  boolean ends(TokenTurn turn) {
    return running.computeIfPresent(turn.lock(), (lock, one) -> one.mustLookAgain() ? one : null)
        == null;
  }

  /** Ends all of them, within a few call timeouts; what is left is for another process to withdraw. */
  @Override
  public void close() {
    closed = true;
    running.values().forEach(TokenWithdrawal::stop);
    running.values().forEach(TokenWithdrawal::awaitEnd);
  }
}
