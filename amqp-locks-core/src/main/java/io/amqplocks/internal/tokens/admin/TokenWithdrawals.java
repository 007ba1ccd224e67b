package io.amqplocks.internal.tokens.admin;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The withdrawals of this process. Each token semaphore that was made smaller here has one thread,
 * until its last excess token has come back.
 *
 * <p>Concurrency: a thread that changes a semaphore stops its withdrawal before the change and
 * begins another one after it. If two threads do so at once, two withdrawals may run for a while.
 * Each takes the turn for each token.
 */
public final class TokenWithdrawals implements AutoCloseable {

  private final Map<LockId, TokenWithdrawal> running = new ConcurrentHashMap<>();
  private final ThreadFactory threads;
  private volatile boolean closed;

  /** Creates the set without any withdrawal. */
  public TokenWithdrawals(ThreadFactory threads) {
    this.threads = threads;
  }

  /**
   * Stops the withdrawal of that semaphore's tokens. The tokens that it had received are back in
   * the queue.
   */
  boolean stop(AdminTurn turn) {
    TokenWithdrawal present = running.remove(turn.lock());
    return present != null && end(present);
  }

  private static boolean end(TokenWithdrawal withdrawal) {
    withdrawal.stop();
    withdrawal.awaitEnd();
    return true;
  }

  /**
   * Begins to withdraw excess tokens. Returns when tokens that come back go there before any
   * waiter.
   */
  void begin(AdminTurn turn) {
    TokenWithdrawal withdrawal = new TokenWithdrawal(turn, this);
    @Nullable TokenWithdrawal before = running.put(turn.lock(), withdrawal);
    if (before != null) {
      before.stop();
    }
    if (closed) {
      withdrawal.stop();
    }
    threads.newThread(withdrawal).start();
    withdrawal.awaitBegin();
  }

  void ended(AdminTurn turn, TokenWithdrawal withdrawal) {
    running.remove(turn.lock(), withdrawal);
  }

  /**
   * Ends all withdrawals, within a few call timeouts. Another process can withdraw the remaining
   * tokens.
   */
  @Override
  public void close() {
    closed = true;
    running.values().forEach(TokenWithdrawal::stop);
    running.values().forEach(TokenWithdrawal::awaitEnd);
  }
}
