package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.waiting.Backoff;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Changes and inspects one token semaphore. {@link TokenSteps} determines the steps. */
public final class TokenAdministration implements TokenSemaphoreAdmin {

  private static final Logger log = LoggerFactory.getLogger(TokenAdministration.class);

  /** It is short because clients that acquire meanwhile wait for it too. */
  private static final Duration UPGRADE_TIMEOUT = Duration.ofMillis(500);

  private final LockId lock;
  private final AdminTurn turn;
  private final TokenRecords records;
  private final TokenWithdrawals withdrawals;

  /** Administers the token semaphore or fenced mutex of that turn. */
  public TokenAdministration(AdminTurn turn, TokenWithdrawals withdrawals) {
    this.turn = turn;
    this.withdrawals = withdrawals;
    lock = turn.lock();
    records = turn.records();
  }

  @Override
  public void create(int slots, TokenQueueType type) {
    requirePossible(slots, type);
    turn.during(steps -> steps.create(slots, type, false));
  }

  @Override
  public int createIfAbsent(int slots, TokenQueueType type) {
    requirePossible(slots, type);
    Call call = turn.call();
    Optional<TokenRecord> record = recordUnlessHidden(call);
    upgradeIfDue(record);
    if (record.isPresent() && record.get().slots() > 0 && isThere(turn.call(), record.get())) {
      if (record.get().missing() > 0) {
        completeIfPossible(record.get());
      }
      return record.get().slots();
    }
    // Another process may create it first, with another number of slots. That number stays.
    return turn.during(steps -> steps.create(slots, type, true)).slots();
  }

  /** Whoever resized it may have died before it began to make tokens. It serves as it is, too. */
  private void completeIfPossible(TokenRecord record) {
    try {
      turn.during(steps -> steps.create(record.slots(), record.type(), true));
    } catch (LockException.Closed | LockException.Interrupted e) {
      throw e;
    } catch (LockException e) {
      log.warn("{} has fewer tokens than slots, and none are made now: {}", lock, e.getMessage());
    }
  }

  /** Creates it, or completes what its maker left, for a caller that has just found no record. */
  public void make(int slots, TokenQueueType type) {
    requirePossible(slots, type);
    turn.during(steps -> steps.create(slots, type, true));
  }

  @Override
  public SlotChange resize(int slots) {
    requireInRange(slots);
    // Otherwise the withdrawal would take tokens that are wanted now.
    boolean withdraws = withdrawals.stop(turn);
    try {
      upgradeIfDue(recordUnlessHidden(turn.call()));
      Resized resized = turn.during(steps -> new Resized(steps.slots(), steps.resize(slots)));
      withdraws = resized.record.excess() > 0;
      return new SlotChange(resized.before, resized.record.slots());
    } finally {
      if (withdraws) {
        withdrawals.begin(turn);
      }
    }
  }

  private record Resized(int before, TokenRecord record) {}

  @Override
  public void destroy() {
    turn.during(TokenSteps::destroy);
  }

  @Override
  public TokenStatus status() {
    return record(turn.call()).map(this::status).orElseGet(() -> new TokenStatus(0, 0, 0, 0, 0, 0));
  }

  private TokenStatus status(TokenRecord record) {
    int tokens = record.tokens().size();
    int idle = 0;
    if (record.generation() > 0) {
      idle = idle(queue(record));
    }
    return new TokenStatus(
        record.slots(),
        tokens,
        idle,
        Math.max(0, tokens - idle),
        record.pending(),
        record.unsettled());
  }

  private int idle(String queue) {
    Call call = turn.call();
    Session session = session(call);
    int messages = session.reader().ready(call, queue).orElse(0);
    if (messages == 0 || !session.broker().areUnacknowledgedCounted()) {
      return messages;
    }
    // In turn, or two of them would take them from each other. Who tries in that moment finds none.
    return turn.during(TokenSteps::takeAndCountIdle);
  }

  @Override
  public boolean awaitWithdrawn(Duration wait) throws InterruptedException {
    long end = turn.ticker().after(wait);
    Backoff backoff = new Backoff();
    while (!isWithdrawn()) {
      long left = end - turn.ticker().nanos();
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.sleep(Math.min(left, backoff.next()));
    }
    return true;
  }

  @Override
  public TokenAudit audit(Duration timeout) {
    return new TokenInspection(turn, records).audit(timeout);
  }

  @Override
  public TokenAudit repair(Duration timeout) {
    // Otherwise the withdrawal could have received what the inspection waits for.
    boolean withdraws = withdrawals.stop(turn);
    try {
      return new TokenInspection(turn, records).repair(timeout);
    } finally {
      if (withdraws) {
        withdrawals.begin(turn);
      }
    }
  }

  /**
   * Upgrades the queues of a semaphore that was created on another major version of the broker.
   * RabbitMQ 4 destroys a token at its 21st return if the queue was declared on 3.x. The upgrade
   * happens only if no token is in use for a moment. Never throws.
   *
   * @param most how long the upgrade may take
   * @return whether the queues are now as this version requires
   */
  public boolean upgrade(Duration most) {
    Duration timeout = most.compareTo(UPGRADE_TIMEOUT) < 0 ? most : UPGRADE_TIMEOUT;
    String why = "some are in use";
    try {
      if (new TokenInspection(turn, records).upgrade(timeout)) {
        return true;
      }
    } catch (LockException e) {
      why = e.getMessage();
    }
    log.warn(
        "The broker has another major version than the one that the queues of {} were made on, and may destroy"
            + " its tokens at their 21st return. They are moved to a new queue when none is in use; that is"
            + " tried again after half a minute, and could not be done now: {}. To be sure, have an"
            + " administrator repair it",
        lock,
        why);
    return false;
  }

  private void upgradeIfDue(Optional<TokenRecord> record) {
    int major = session(turn.call()).broker().major();
    if (record.filter(known -> known.exists() && known.brokerMajor() != major).isPresent()) {
      boolean unused = upgrade(UPGRADE_TIMEOUT);
    }
  }

  /**
   * Whether no token is left to be withdrawn. The record that all may read may be an old version
   * for a moment, so the ledger has the last word.
   */
  private boolean isWithdrawn() {
    Optional<TokenRecord> read = record(turn.call());
    return read.isEmpty()
        || (!isWithdrawing(read.get()) && !isWithdrawing(turn.during(TokenSteps::record)));
  }

  private static boolean isWithdrawing(TokenRecord record) {
    return record.excess() > 0 || !record.withdrawing().isEmpty();
  }

  private Optional<TokenRecord> record(Call call) {
    try {
      return records.read(call, session(call), lock);
    } catch (LockException.Unreachable e) {
      // A close explains why a session ended, so it is reported instead.
      turn.sessions().requireNotClosed(call);
      throw e;
    }
  }

  /**
   * Reads the record. If a frozen reader has received the record, the result is empty: an
   * administrator whose turn it is does not need it.
   */
  private Optional<TokenRecord> recordUnlessHidden(Call call) {
    try {
      return record(call);
    } catch (LockException.Unexpected e) {
      log.debug("What is recorded of {} is to be had by the turn only: {}", lock, e.getMessage());
      return Optional.empty();
    }
  }

  private boolean isThere(Call call, TokenRecord record) {
    return record.generation() > 0 && session(call).reader().ready(call, queue(record)).isPresent();
  }

  private String queue(TokenRecord record) {
    return turn.names().tokens(lock, record.generation());
  }

  private Session session(Call call) {
    return turn.sessions().current(call);
  }

  private void requirePossible(int slots, TokenQueueType type) {
    requireInRange(slots);
    if (lock.kind() == LockKind.FENCED_MUTEX && type != TokenQueueType.QUORUM) {
      throw new LockException.Invalid(
          "The %s has fencing tokens, which need a quorum queue and not %s; use QUORUM"
              .formatted(lock, type));
    }
    if (Objects.requireNonNull(type) == TokenQueueType.QUORUM
        && turn.names().hasPlainTokens(lock)) {
      throw new LockException.Invalid(
          "The %s follows the plain protocol, whose clients declare classic queues; use CLASSIC"
              .formatted(lock));
    }
  }

  private void requireInRange(int slots) {
    if (lock.kind() == LockKind.FENCED_MUTEX && slots != 1) {
      throw new LockException.Invalid(
          "The %s has one slot and cannot have %d; use a token semaphore".formatted(lock, slots));
    }
    if (slots < 1 || slots > MAX_SLOTS) {
      throw new LockException.Invalid(
          "A number of %d slots is not possible for %s; use 1 to %d"
              .formatted(slots, lock, MAX_SLOTS));
    }
  }
}
