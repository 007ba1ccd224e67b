package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Locates the token queue of each lock. The queue is read from the record at the broker once, and
 * again when that queue has gone.
 *
 * <p>Concurrency: a remembered queue may be outdated at any time. That does no harm: a queue that
 * is not in use any more is deleted, and no name is used twice. A caller that finds an upgraded
 * broker tries to upgrade the queues, one caller at a time in a process.
 */
public final class TokenQueueLocator {

  private static final long PAUSE_NANOS = 10_000_000;

  private final QueueNames names;
  private final TokenRecords records;
  private final Upgrade upgrade;
  private final BoundedMap<LockId, Found> places = new BoundedMap<>();

  private record Found(TokenQueueRef tokenQueue, RecordedTokens tokens) {}

  /** Moves tokens that were made on another major version of the broker. */
  @FunctionalInterface
  public interface Upgrade {
    /**
     * Makes their queues as this version requires, if nobody is in the way.
     *
     * @return whether they are as required; false too if half of the call was not enough for that
     */
    boolean attempt(Call call);
  }

  /** Locates the queues of locks with the given names. */
  public TokenQueueLocator(QueueNames names, TokenRecords records, Upgrade upgrade) {
    this.names = names;
    this.records = records;
    this.upgrade = upgrade;
  }

  /** The lock's token queue; empty if the lock does not exist. */
  Optional<TokenQueueRef> find(Call call, Session session) {
    // What its users make when it is missing, they complete when its maker died.
    return find(call, session, call.lock().kind() == LockKind.FENCED_MUTEX);
  }

  /** The same, for who has made or completed the lock: its record is written. */
  Optional<TokenQueueRef> findMade(Call call, Session session) {
    return find(call, session, false);
  }

  private Optional<TokenQueueRef> find(Call call, Session session, boolean maybeUnwritten) {
    LockId lock = call.lock();
    if (names.hasPlainTokens(lock)) {
      session.broker().requirePlainTokens(call);
      return Optional.of(new TokenQueueRef(names.tokens(lock, 0), TokenQueueType.CLASSIC, true));
    }
    Found known = places.get(lock);
    if (known == null) {
      return read(call, session, maybeUnwritten);
    }
    known.tokens.readBy(session);
    return upgraded(call, session, known);
  }

  /**
   * How many slots the lock has by its record, which is read for this; empty if nobody knows, as in
   * the plain protocol, or there is no such lock.
   */
  public OptionalInt slots(Call call, Session session) {
    LockId lock = call.lock();
    if (names.hasPlainTokens(lock)) {
      return OptionalInt.empty();
    }
    return records
        .read(call, session, lock)
        .filter(TokenRecord::exists)
        .map(record -> OptionalInt.of(record.slots()))
        .orElseGet(OptionalInt::empty);
  }

  private Optional<TokenQueueRef> read(Call call, Session session, boolean maybeUnwritten) {
    LockId lock = call.lock();
    Optional<TokenRecord> record =
        maybeUnwritten
            ? records.readIfWritten(call, session, lock)
            : records.read(call, session, lock);
    Optional<Found> found =
        record.filter(TokenRecord::exists).map(exists -> found(lock, exists, session));
    if (found.isEmpty()) {
      return Optional.empty();
    }
    places.put(lock, found.get());
    return upgraded(call, session, found.get());
  }

  /**
   * The lock's token queue after an upgrade of the queues, which is attempted now and then if it is
   * due.
   */
  private Optional<TokenQueueRef> upgraded(Call call, Session session, Found found) {
    if (found.tokens.isDueForUpgrade(call.ticker().nanos()) && upgrade.attempt(call)) {
      places.remove(call.lock(), found);
      return read(call, session, false);
    }
    return Optional.of(found.tokenQueue);
  }

  private Found found(LockId lock, TokenRecord record, Session session) {
    RecordedTokens tokens = new RecordedTokens(lock, records, record, session);
    String queue = names.tokens(lock, record.generation());
    return new Found(new TokenQueueRef(queue, record.type(), false, tokens), tokens);
  }

  /** Forgets the given queue, which has gone. */
  void forget(LockId lock, TokenQueueRef tokenQueue) {
    places.computeIfPresent(
        lock, (id, found) -> found.tokenQueue.equals(tokenQueue) ? null : found);
  }

  /**
   * Waits while the lock is moved from the given queue, which has gone, to another one. The record
   * tells: the next queue is reserved before the last one is deleted. What its users make, they
   * complete themselves, and a plain queue has no other name.
   *
   * @return whether the record names another queue by now
   * @throws LockException.Unanswered if the move takes longer than half of the call
   */
  boolean isMoved(Call call, Session session, TokenQueueRef gone) {
    LockId lock = call.lock();
    if (gone.plain() || lock.kind() == LockKind.FENCED_MUTEX) {
      return false;
    }
    Call waiting = call.half();
    while (true) {
      Optional<TokenRecord> record = records.read(call, session, lock).filter(TokenRecord::exists);
      if (record.isEmpty()) {
        return false;
      }
      if (!names.tokens(lock, record.get().generation()).equals(gone.queue())) {
        return true;
      }
      if (!record.get().isMoving()) {
        return false;
      }
      if (waiting.remainingNanos() == 0) {
        throw moving(call);
      }
      Futures.pause(PAUSE_NANOS);
    }
  }

  /** No outage: the broker has answered. */
  private static LockException moving(Call call) {
    return LockException.Unanswered.contended(
        "The %s is being moved to another queue, and has none meanwhile; try again, and if that"
                .formatted(call.lock())
            + " lasts, have an administrator repair it");
  }

  /** The error for a lock that does not exist. */
  static LockException.NotFound notFound(LockId lock) {
    return new LockException.NotFound(
        lock.kind() == LockKind.FENCED_MUTEX
            ? "The %s was destroyed while it was acquired; try again".formatted(lock)
            : "There is no %s at the broker; create it with admin().tokenSemaphore(\"%s\").create(slots,"
                    .formatted(lock, lock.name())
                + " type)");
  }
}
