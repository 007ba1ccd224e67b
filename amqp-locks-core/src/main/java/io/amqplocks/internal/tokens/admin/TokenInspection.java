package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the tokens of a semaphore by receiving each of them once: first the idle ones in the
 * queue, then those that come back to it. Only after that, the turn is taken for the changes.
 *
 * @param turn the turn of that semaphore
 * @param records reads its record
 */
record TokenInspection(AdminTurn turn, TokenRecords records) {

  private static final Logger log = LoggerFactory.getLogger(TokenInspection.class);

  private static final long LOOK_EVERY_NANOS = 500_000_000;

  /** How long a token that was just published or given back may still be on its way. */
  private static final long GRACE_NANOS = 250_000_000;

  /** How often an inspection may begin: the semaphore may move, or its queue may fail. */
  private static final int TRIES = 5;

  TokenAudit audit(Duration timeout) {
    return inspect(
        timeout,
        this::isAll,
        (connection, gathered, unacked) -> {
          TokenRecord now = record();
          if (now.generation() != gathered.generation()) {
            return null;
          }
          TokenSorting sorted = turn.sort(now, unacked.all(turn.call()));
          // The broker may have sent one of them twice.
          return sorted.surplus().isEmpty()
              ? sorted.audit(now)
              : new TokenSorting(
                      sorted.members(), turn.sort(now, unacked.again(turn.call())).surplus())
                  .audit(now);
        });
  }

  TokenAudit repair(Duration timeout) {
    try {
      return repairExisting(timeout);
    } catch (LockException.NotFound e) {
      Optional<TokenAudit> restored = turn.during(TokenSteps::restore);
      // Nothing was gone. The record was wrong, and the administrator with the turn has corrected
      // it.
      return restored.isPresent() ? restored.get() : repairExisting(timeout);
    }
  }

  /** Upgrades the queues, like {@link TokenAdministration#upgrade}; throws if it cannot. */
  boolean upgrade(Duration timeout) {
    TokenRecord found = record();
    if (found.type() != TokenQueueType.QUORUM) {
      turn.during(TokenSteps::upgrade);
      return true;
    }
    TokenAudit left =
        inspect(
            timeout,
            this::nothingIsOutstanding,
            (connection, gathered, unacked) ->
                turn.during(
                        connection, steps -> Optional.ofNullable(upgrade(steps, gathered, unacked)))
                    .orElse(null));
    return left.outstanding() == 0;
  }

  private @Nullable TokenAudit upgrade(
      TokenSteps steps, TokenRecord gathered, UnackedMessages unacked) {
    TokenRecord now = steps.existing();
    return now.generation() == gathered.generation()
        ? steps.upgrade(now, unacked.all(turn.call()))
        : null;
  }

  private TokenAudit repairExisting(Duration timeout) {
    return inspect(
        timeout,
        this::isAll,
        (connection, gathered, unacked) ->
            turn.during(connection, steps -> Optional.ofNullable(repair(steps, gathered, unacked)))
                .orElse(null));
  }

  private @Nullable TokenAudit repair(
      TokenSteps steps, TokenRecord gathered, UnackedMessages unacked) {
    TokenRecord now = steps.existing();
    if (now.generation() != gathered.generation()) {
      return null;
    }
    long end = turn.ticker().nanos() + GRACE_NANOS;
    while (audit(now, unacked).outstanding() > 0 && gathered.version() != now.version()) {
      long left = end - turn.ticker().nanos();
      if (left <= 0) {
        break;
      }
      unacked.next(turn.call(), left);
    }
    return steps.repair(
        now, new BrokerTokens.UnackedTokens(unacked, turn::call), unacked.all(turn.call()));
  }

  /**
   * What to do with all tokens that could be received. The result is null if they no longer count.
   */
  @FunctionalInterface
  private interface Conclusion {
    @Nullable TokenAudit of(
        TokenAdminConnection connection, TokenRecord gathered, UnackedMessages unacked);
  }

  /** Whether the received tokens are enough. */
  @FunctionalInterface
  private interface Enough {
    boolean is(TokenAdminConnection connection, TokenRecord record, UnackedMessages unacked);
  }

  private TokenAudit inspect(Duration timeout, Enough enough, Conclusion conclusion) {
    long end = turn.ticker().after(timeout);
    for (int i = 0; i < TRIES; i++) {
      TokenRecord record = record();
      String queue = turn.names().tokens(turn.lock(), record.generation());
      try (TokenAdminConnection connection = turn.connect();
          UnackedMessages unacked = connection.unacked(turn.call(), queue, record.type())) {
        TokenAudit audit =
            conclusion.of(connection, gather(connection, record, unacked, enough, end), unacked);
        if (audit != null) {
          return audit;
        }
        end = turn.ticker().after(timeout);
      } catch (LockException.NotFound e) {
        if (afterMove().generation() == record.generation() && !isThere(queue)) {
          throw e;
        }
        // Others may have the tokens that were in hand, and get as long to give them back.
        end = turn.ticker().after(timeout);
      }
    }
    throw new LockException.Unanswered(
        "The %s was changed again and again while it was inspected, or its queue failed; try again later"
            .formatted(turn.lock()));
  }

  /** A classic queue whose process has died begins anew, with all messages that were in hand. */
  private boolean isThere(String queue) {
    try (TokenAdminConnection connection = turn.connect()) {
      return connection.count(turn.call(), queue).isPresent();
    }
  }

  /** The record, when no administrator is at work between two queues. */
  private TokenRecord afterMove() {
    TokenRecord now = record();
    return now.isMoving() ? turn.during(TokenSteps::existing) : now;
  }

  /**
   * Receives tokens until they are enough or the time is over. Returns the record by which they
   * were enough, or the last one read.
   */
  private TokenRecord gather(
      TokenAdminConnection connection,
      TokenRecord first,
      UnackedMessages unacked,
      Enough enough,
      long end) {
    TokenRecord record = first;
    new BrokerTokens.UnackedTokens(unacked, turn::call).take(Integer.MAX_VALUE);
    if (end - turn.ticker().nanos() > 0) {
      unacked.receive(turn.call(), 0);
    }
    for (long left = end - turn.ticker().nanos(); left > 0; left = end - turn.ticker().nanos()) {
      boolean seemsEnough = enough.is(connection, record, unacked);
      // A token that was just given back to us belongs to nobody else, and may still be on its way.
      long pause = seemsEnough ? GRACE_NANOS : LOOK_EVERY_NANOS;
      if (unacked.next(turn.call(), Math.min(left, pause)).isEmpty()) {
        if (seemsEnough) {
          return record;
        }
        record = record();
      }
    }
    return record;
  }

  /**
   * Whether nothing more can come. Having received each token of the record does not prove that,
   * because a surplus token may be in use. A quorum queue shows whether anybody else holds or
   * waits. A classic queue does not.
   */
  private boolean isAll(
      TokenAdminConnection connection, TokenRecord record, UnackedMessages unacked) {
    if (record.type() != TokenQueueType.QUORUM || audit(record, unacked).outstanding() > 0) {
      return false;
    }
    String queue = turn.names().tokens(turn.lock(), record.generation());
    return connection.consumers(turn.call(), queue).orElse(0) <= unacked.consumers();
  }

  private boolean nothingIsOutstanding(
      TokenAdminConnection connection, TokenRecord record, UnackedMessages unacked) {
    return audit(record, unacked).outstanding() == 0;
  }

  private TokenAudit audit(TokenRecord record, UnackedMessages unacked) {
    return turn.sort(record, unacked.all(turn.call())).audit(record);
  }

  /**
   * Reads the newest record. If a frozen reader has received it, takes the turn instead: an
   * administrator whose turn it is does not need it.
   */
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
