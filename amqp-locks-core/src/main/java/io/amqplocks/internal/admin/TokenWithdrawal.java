package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.MessageHand;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.waiting.Backoff;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Withdraws the tokens of one semaphore that are too many as they come back, ahead of all who wait for
 * them. It has no turn while it waits. With a token in hand it takes the turn and reads the record anew:
 * perhaps another administrator wants the token after all.
 *
 * <p>Concurrency: the work is one thread's; a flag and two events are seen by others.
 */
final class TokenWithdrawal implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(TokenWithdrawal.class);

  /** How soon it sees that it is to stop. */
  private static final long PAUSE_NANOS = 50_000_000;

  /** How soon it sees that another process wants the tokens after all; in pauses. */
  private static final int LOOK_EVERY = 100;

  private final TokenTurn turn;
  private final TokenWithdrawals others;
  private final TokenRecords records;
  private final CompletableFuture<Void> begun = new CompletableFuture<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private volatile boolean stopped;

  TokenWithdrawal(TokenTurn turn, TokenWithdrawals others) {
    this.turn = turn;
    this.others = others;
    records = new TokenRecords(turn.names());
  }

  /** Ends soon; a token in hand goes back. */
  void stop() {
    stopped = true;
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
    Backoff backoff = new Backoff(ThreadLocalRandom.current());
    try {
      while (!stopped && !isDone()) {
        Futures.pause(backoff.next());
      }
    } finally {
      others.ended(turn, this);
      begun.complete(null);
      ended.complete(null);
    }
  }

  /** Works until nothing is pending, or something breaks. */
  private boolean isDone() {
    try (TokenKeeper keeper = turn.connect()) {
      Optional<TokenRecord> record = record();
      return record.isEmpty() || record.get().pending() == 0 || drain(keeper, record.get());
    } catch (LockException.Closed e) {
      return true;
    } catch (LockException e) {
      log.debug("Tokens of {} cannot be withdrawn now: {}", turn.lock(), e.getMessage());
      return false;
    }
  }

  private Optional<TokenRecord> record() {
    Call call = turn.call();
    return records.read(call, turn.sessions().current(call), turn.lock());
  }

  private boolean drain(TokenKeeper keeper, TokenRecord record) {
    String queue = turn.names().tokens(turn.lock(), record.generation());
    try (MessageHand hand = keeper.hand(turn.call(), queue)) {
      hand.receive(turn.call(), record.pending());
      begun.complete(null);
      for (int looked = 0; !stopped; looked++) {
        if (hand.next(turn.call(), PAUSE_NANOS).isPresent()) {
          TokenRecord now = turn.during(keeper, steps -> withdraw(steps, record, hand));
          if (now.pending() == 0 || now.generation() != record.generation()) {
            log.info("All tokens of {} that were too many are withdrawn", turn.lock());
            return now.pending() == 0;
          }
        } else if (looked >= LOOK_EVERY) {
          looked = 0;
          if (record().map(TokenRecord::pending).orElse(0) == 0) {
            return true;
          }
        }
      }
    }
    return true;
  }

  private TokenRecord withdraw(TokenSteps steps, TokenRecord before, MessageHand hand) {
    TokenRecord record = steps.existing();
    if (record.generation() != before.generation()) {
      return record;
    }
    return steps.withdraw(record, new BrokerTokens.TokenHand(hand, turn::call), hand.all());
  }
}
