package io.amqplocks.internal.admin;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/**
 * The withdrawals that this process carries on: one thread for each token semaphore that was made
 * smaller here, until the last token that is too many came back.
 *
 * <p>Concurrency: whoever changes a semaphore stops its withdrawal before and begins another after. Two
 * who do so at once may leave two at work for a while; each takes the turn for each token.
 */
public final class TokenWithdrawals implements AutoCloseable {

  private final Map<LockId, TokenWithdrawal> running = new ConcurrentHashMap<>();
  private final ThreadFactory threads;
  private volatile boolean closed;

  /** None yet. */
  public TokenWithdrawals(ThreadFactory threads) {
    this.threads = threads;
  }

  /** Stops the withdrawal of that semaphore's tokens; what it had in hand is back in the queue. */
  boolean stop(TokenTurn turn) {
    TokenWithdrawal present = running.remove(turn.lock());
    return present != null && end(present);
  }

  private static boolean end(TokenWithdrawal withdrawal) {
    withdrawal.stop();
    withdrawal.awaitEnd();
    return true;
  }

  /** Withdraws what is too many; returns when tokens that come back go there before all others. */
  void begin(TokenTurn turn) {
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

  void ended(TokenTurn turn, TokenWithdrawal withdrawal) {
    running.remove(turn.lock(), withdrawal);
  }

  /** Ends all of them, within a few call timeouts; what is left is for another process to withdraw. */
  @Override
  public void close() {
    closed = true;
    running.values().forEach(TokenWithdrawal::stop);
    running.values().forEach(TokenWithdrawal::awaitEnd);
  }
}
