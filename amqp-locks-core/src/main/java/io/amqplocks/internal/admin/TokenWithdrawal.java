package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.MessageHand;
import io.amqplocks.internal.session.TokenKeeper;
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
 * Withdraws the tokens of one semaphore that are too many as they come back, ahead of all who wait for
 * them. It has no turn while it waits. With a token in hand it takes the turn and reads the record anew:
 * perhaps another administrator wants the token after all.
 *
 * <p>Where an interrupted change left tokens of which nobody knows whether they are there, what comes may
 * be one of those, which settles it, or one that is wanted. That goes back at once, and for a while others
 * are served first.
 *
 * <p>Concurrency: the work is one thread's; three events are seen by others.
 */
final class TokenWithdrawal implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(TokenWithdrawal.class);

  /** How soon it sees that it is to stop. */
  private static final long LOOK_NANOS = 50_000_000;

  /** How soon it sees that another process wants the tokens after all; in looks. */
  private static final int LOOK_EVERY = 100;

  private static final long SHORTEST_PAUSE_NANOS = 100_000_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;
  private static final int FAILURES_TOLD = 3;

  private final TokenTurn turn;
  private final TokenWithdrawals others;
  private final TokenRecords records;
  private final CompletableFuture<Void> begun = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> stopping = new CompletableFuture<>();
  private int failures;

  TokenWithdrawal(TokenTurn turn, TokenWithdrawals others) {
    this.turn = turn;
    this.others = others;
    records = turn.records();
  }

  /** Ends soon; a token in hand goes back. */
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
      others.ended(turn, this);
      begun.complete(null);
      ended.complete(null);
    }
  }

  /** The longer, the more often it was in vain. */
  private void pause(int vain) {
    long pause = SHORTEST_PAUSE_NANOS << Math.min(vain, 10);
    try {
      Futures.await(stopping, Math.min(LONGEST_PAUSE_NANOS, pause));
    } catch (TimeoutException | ExecutionException e) {
      // The pause is over.
      return;
    }
  }

  /** Works until nothing is too many, or something breaks. */
  private boolean isDone() {
    try (TokenKeeper keeper = turn.connect()) {
      int excess = Integer.MAX_VALUE;
      for (int vain = 0; !stopping.isDone(); vain++) {
        Optional<TokenRecord> record = record();
        int now = record.map(TokenRecord::excess).orElse(0);
        if (now == 0) {
          return true;
        }
        if (now < excess) {
          vain = 0;
        } else {
          pause(vain);
        }
        excess = now;
        drain(keeper, record.get());
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

  /** Until what is in hand is to be given back. */
  private void drain(TokenKeeper keeper, TokenRecord record) {
    String queue = turn.names().tokens(turn.lock(), record.generation());
    try (MessageHand hand = keeper.hand(turn.call(), queue)) {
      hand.receive(turn.call(), record.excess());
      begun.complete(null);
      for (int looked = 0; !stopping.isDone(); looked++) {
        if (hand.next(turn.call(), LOOK_NANOS).isPresent()) {
          TokenRecord now =
              turn.during(keeper, steps -> withdraw(steps, record, hand), this::requireWanted);
          failures = 0;
          if (now.generation() != record.generation() || now.pending() == 0) {
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

  private TokenRecord withdraw(TokenSteps steps, TokenRecord before, MessageHand hand) {
    TokenRecord record = steps.existing();
    if (record.generation() != before.generation()) {
      return record;
    }
    return steps.withdraw(record, new BrokerTokens.TokenHand(hand, turn::call), hand.all());
  }
}
