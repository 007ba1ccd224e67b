package io.amqplocks.internal.tokens.admin;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The withdrawals of this process. Each token semaphore that was made smaller here has one thread,
 * until its last excess token has come back.
 *
 * <p>Concurrency: a thread that changes a semaphore stops its withdrawal before the change and
 * begins another one after it. If two threads do so at once, two withdrawals may run for a while.
 * Each takes the turn for each token.
 */
public final class TokenWithdrawals implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TokenWithdrawals.class);

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
    if (isStarted(turn, withdrawal)) {
      withdrawal.awaitBegin();
    }
  }

  /** Does not throw: what its caller has changed stays changed. */
  private boolean isStarted(AdminTurn turn, TokenWithdrawal withdrawal) {
    try {
      threads.newThread(withdrawal).start();
      return true;
    } catch (RuntimeException | Error e) {
      withdrawal.end();
      log.warn(
          "Tokens of {} that are too many are not withdrawn, because no thread can be started: {}; resize it"
              + " to its present number of slots, or repair it",
          turn.lock(),
          e.toString());
      return false;
    }
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
