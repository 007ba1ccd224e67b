package io.amqplocks.internal.tokens.admin;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Withdraws excess tokens of one semaphore as they come back, before any waiter gets them. It does
 * not have the turn while it waits. When it has received a token, it takes the turn and reads the
 * record again, because another administrator may want the token after all.
 *
 * <p>An interrupted change may have left tokens of which nobody knows whether they exist. A token
 * that comes back may be one of those, which settles it, or one that is wanted. A wanted token goes
 * back at once, and others are served first for a while.
 *
 * <p>Concurrency: one thread does the work. Other threads see three events of it, which are
 * futures.
 */
final class TokenWithdrawal implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(TokenWithdrawal.class);

  /** How often it checks whether it has to stop. */
  private static final long LOOK_NANOS = 50_000_000;

  /** After how many of these checks it reads whether another process wants the tokens after all. */
  private static final int LOOK_EVERY = 100;

  private static final long SHORTEST_PAUSE_NANOS = 100_000_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;
  private static final int FAILURES_TOLD = 3;

  private final AdminTurn turn;
  private final TokenWithdrawals others;
  private final TokenRecords records;
  private final CompletableFuture<Void> begun = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> stopping = new CompletableFuture<>();
  private int failures;

  TokenWithdrawal(AdminTurn turn, TokenWithdrawals others) {
    this.turn = turn;
    this.others = others;
    records = turn.records();
  }

  /** Makes it end soon. A token that it has received goes back. */
  void stop() {
    stopping.complete(null);
  }

  void awaitBegin() {
    await(begun, turn.callTimeout());
  }

  void awaitEnd() {
    await(ended, turn.callTimeout().multipliedBy(2));
  }

  private void await(CompletableFuture<Void> event, Duration bound) {
    try {
      Futures.await(event, bound.toNanos());
    } catch (TimeoutException | ExecutionException e) {
      log.info("The withdrawal of tokens of {} takes its time", turn.lock());
    }
  }

  @Override
  public void run() {
    try {
      while (!stopping.isDone() && !isDone()) {
        pause(failures);
      }
    } finally {
      end();
    }
  }

  /** It has run, or never will, because no thread could be started. Nobody waits for it now. */
  void end() {
    others.ended(turn, this);
    begun.complete(null);
    ended.complete(null);
  }

  /** Pauses, the longer the more often the work was in vain. */
  private void pause(int vain) {
    long pause = SHORTEST_PAUSE_NANOS << Math.min(vain, 10);
    try {
      Futures.await(stopping, Math.min(LONGEST_PAUSE_NANOS, pause));
    } catch (TimeoutException | ExecutionException e) {
      // The pause is over.
      return;
    }
  }

  /** Works until there are no excess tokens, or something breaks. */
  private boolean isDone() {
    try (TokenAdminConnection connection = turn.connect()) {
      int excess = Integer.MAX_VALUE;
      for (int vain = 0; !stopping.isDone(); vain++) {
        TokenRecord record = record().orElse(TokenRecord.BLANK);
        if (record.excess() == 0) {
          // That may have been an old version, and nobody else would withdraw the tokens.
          record = turn.during(connection, TokenSteps::record, this::requireWanted);
        }
        int now = record.excess();
        if (now == 0) {
          return true;
        }
        if (now < excess) {
          vain = 0;
        } else {
          pause(vain);
        }
        excess = now;
        drain(connection, record);
      }
      return true;
    } catch (LockException.Closed e) {
      return true;
    } catch (LockException e) {
      failures++;
      if (failures == FAILURES_TOLD) {
        log.warn(
            "Tokens of {} that are too many cannot be withdrawn: {}; this is tried again until it can, or"
                + " until they are wanted; if that lasts, repair it",
            turn.lock(),
            e.getMessage());
      } else {
        log.debug("Tokens of {} cannot be withdrawn now: {}", turn.lock(), e.getMessage());
      }
      return false;
    }
  }

  private Optional<TokenRecord> record() {
    Call call = turn.call();
    return records.read(call, turn.sessions().current(call), turn.lock());
  }

  /** Receives tokens until they have to be given back. */
  private void drain(TokenAdminConnection connection, TokenRecord record) {
    String queue = turn.names().tokens(turn.lock(), record.generation());
    try (UnackedMessages unacked = connection.unacked(turn.call(), queue, record.type())) {
      unacked.receive(turn.call(), record.excess());
      begun.complete(null);
      TokenRecord known = record;
      for (int looked = 0; !stopping.isDone(); looked++) {
        if (unacked.next(turn.call(), LOOK_NANOS).isPresent()) {
          TokenRecord now =
              turn.during(
                  connection, steps -> withdraw(steps, record, unacked), this::requireWanted);
          failures = 0;
          // What is in hand and stays there may be all that this consumer is ever sent.
          boolean inVain = now.equals(known) && !unacked.all(turn.call()).isEmpty();
          known = now;
          if (inVain || now.generation() != record.generation() || now.pending() == 0) {
            if (now.generation() == record.generation() && now.excess() == 0) {
              log.info("All tokens of {} that were too many are withdrawn", turn.lock());
            }
            return;
          }
        } else if (looked >= LOOK_EVERY) {
          looked = 0;
          if (record().map(TokenRecord::excess).orElse(0) == 0) {
            return;
          }
        }
      }
    }
  }

  private void requireWanted() {
    turn.sessions().requireNotClosed(turn.call());
    if (stopping.isDone()) {
      throw new LockException.Closed("The withdrawal of tokens of " + turn.lock() + " is to stop");
    }
  }

  private TokenRecord withdraw(TokenSteps steps, TokenRecord before, UnackedMessages unacked) {
    TokenRecord record = steps.existing();
    if (record.generation() != before.generation()) {
      return record;
    }
    return steps.withdraw(
        record, new BrokerTokens.UnackedTokens(unacked, turn::call), unacked.all(turn.call()));
  }
}
