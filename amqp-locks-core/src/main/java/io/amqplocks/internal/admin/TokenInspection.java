package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.MessageHand;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.TokenAudit;
import io.amqplocks.lock.TokenQueueType;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the tokens of a semaphore by having each in hand once: first all that wait in the queue, then
 * those that come back to it. The turn is taken only when that is over, for what is to be changed.
 *
 * @param turn of that semaphore
 * @param records where its record is read
 */
record TokenInspection(TokenTurn turn, TokenRecords records) {

  private static final Logger log = LoggerFactory.getLogger(TokenInspection.class);

  private static final long LOOK_EVERY_NANOS = 500_000_000;

  /** How long a token may be on its way that was published just now. */
  private static final long GRACE_NANOS = 250_000_000;

  /** How often the semaphore may move to another queue meanwhile. */
  private static final int TRIES = 5;

  TokenAudit audit(Duration patience) {
    return inspect(
        patience,
        this::isAll,
        (keeper, gathered, hand) -> {
          TokenRecord now = record();
          return now.generation() == gathered.generation() ? audit(now, hand) : null;
        });
  }

  TokenAudit repair(Duration patience) {
    try {
      return repairByHand(patience);
    } catch (LockException.NotFound e) {
      Optional<TokenAudit> restored = turn.during(TokenSteps::restore);
      // Nothing was gone: the record misled, and whoever has the turn has corrected it.
      return restored.isPresent() ? restored.get() : repairByHand(patience);
    }
  }

  /** As {@link TokenAdministration#upgrade}; throws if it cannot. */
  boolean upgrade(Duration patience) {
    TokenRecord found = record();
    if (found.type() != TokenQueueType.QUORUM) {
      turn.during(TokenSteps::upgrade);
      return true;
    }
    TokenAudit left =
        inspect(
            patience,
            this::nothingIsOutstanding,
            (keeper, gathered, hand) ->
                turn.during(keeper, steps -> Optional.ofNullable(upgrade(steps, gathered, hand)))
                    .orElse(null));
    return left.outstanding() == 0;
  }

  private @Nullable TokenAudit upgrade(TokenSteps steps, TokenRecord gathered, MessageHand hand) {
    TokenRecord now = steps.existing();
    return now.generation() == gathered.generation() ? steps.upgrade(now, hand.all()) : null;
  }

  private TokenAudit repairByHand(Duration patience) {
    return inspect(
        patience,
        this::isAll,
        (keeper, gathered, hand) ->
            turn.during(keeper, steps -> Optional.ofNullable(repair(steps, gathered, hand)))
                .orElse(null));
  }

  private @Nullable TokenAudit repair(TokenSteps steps, TokenRecord gathered, MessageHand hand) {
    TokenRecord now = steps.existing();
    if (now.generation() != gathered.generation()) {
      return null;
    }
    long end = System.nanoTime() + GRACE_NANOS;
    while (audit(now, hand).outstanding() > 0 && gathered.version() != now.version()) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        break;
      }
      hand.next(turn.call(), left);
    }
    return steps.repair(now, new BrokerTokens.TokenHand(hand, turn::call), hand.all());
  }

  /** What to do with all tokens that could be had; null if they are not those that count any more. */
  @FunctionalInterface
  private interface Conclusion {
    @Nullable TokenAudit of(TokenKeeper keeper, TokenRecord gathered, MessageHand hand);
  }

  /** Whether what is in hand is enough. */
  @FunctionalInterface
  private interface Enough {
    boolean is(TokenKeeper keeper, TokenRecord record, MessageHand hand);
  }

  private TokenAudit inspect(Duration patience, Enough enough, Conclusion conclusion) {
    long end = System.nanoTime() + patience.toNanos();
    for (int i = 0; i < TRIES; i++) {
      TokenRecord record = record();
      String queue = turn.names().tokens(turn.lock(), record.generation());
      try (TokenKeeper keeper = turn.connect();
          MessageHand hand = keeper.hand(turn.call(), queue)) {
        TokenAudit audit = conclusion.of(keeper, gather(keeper, record, hand, enough, end), hand);
        if (audit != null) {
          return audit;
        }
      } catch (LockException.NotFound e) {
        if (record().generation() == record.generation()) {
          throw e;
        }
      }
    }
    throw new LockException.Unanswered(
        "The %s was changed again and again while it was inspected; try again later"
            .formatted(turn.lock()));
  }

  /** Takes what can be had until the end; returns the record by which it was enough, or the last. */
  private TokenRecord gather(
      TokenKeeper keeper, TokenRecord first, MessageHand hand, Enough enough, long end) {
    TokenRecord record = first;
    new BrokerTokens.TokenHand(hand, turn::call).take(Integer.MAX_VALUE);
    if (end - System.nanoTime() > 0 && !enough.is(keeper, record, hand)) {
      hand.receive(turn.call(), 0);
      for (long left = end - System.nanoTime();
          left > 0 && !enough.is(keeper, record, hand);
          left = end - System.nanoTime()) {
        if (hand.next(turn.call(), Math.min(left, LOOK_EVERY_NANOS)).isEmpty()) {
          record = record();
        }
      }
    }
    return record;
  }

  /**
   * Whether nothing can come any more. That each token of the record is in hand does not say so: one that is
   * too many may be in use. A quorum queue tells whether anybody else holds or waits; a classic one does not.
   */
  private boolean isAll(TokenKeeper keeper, TokenRecord record, MessageHand hand) {
    if (record.type() != TokenQueueType.QUORUM || audit(record, hand).outstanding() > 0) {
      return false;
    }
    String queue = turn.names().tokens(turn.lock(), record.generation());
    return keeper.consumers(turn.call(), queue).orElse(0) <= hand.consumers();
  }

  private boolean nothingIsOutstanding(TokenKeeper keeper, TokenRecord record, MessageHand hand) {
    return audit(record, hand).outstanding() == 0;
  }

  private TokenAudit audit(TokenRecord record, MessageHand hand) {
    var inHand = hand.all();
    return TokenFindings.audit(record, inHand.size(), turn.sort(record, inHand));
  }

  /** A reader that froze may have the record in hand; whoever has the turn can do without. */
  private Optional<TokenRecord> newest() {
    try {
      Call call = turn.call();
      return records.read(call, turn.sessions().current(call), turn.lock());
    } catch (LockException.Unexpected e) {
      log.debug(
          "What is recorded of {} is to be had by the turn only: {}", turn.lock(), e.getMessage());
      return Optional.of(turn.during(TokenSteps::existing));
    }
  }

  private TokenRecord record() {
    return newest()
        .filter(TokenRecord::exists)
        .orElseThrow(
            () -> new LockException.NotFound("There is no %s; create it".formatted(turn.lock())));
  }
}
