package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.TokenQueueType;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows which queue keeps the tokens of which lock: read from the record at the broker once, and again
 * when that queue has gone.
 *
 * <p>Concurrency: what is remembered may be out of date at any time. That does no harm: a queue that is
 * not in use any more is deleted, and no name is used twice.
 * Whoever finds that the broker was upgraded tries to upgrade the queues, one at a time in a process.
 */
public final class TokenDirectory {

  /** More locks than that have names that are made up as the application runs. */
  private static final int MOST_REMEMBERED = 10_000;

  private final QueueNames names;
  private final TokenRecords records;
  private final Upgrade upgrade;
  private final Map<LockId, Found> places = new ConcurrentHashMap<>();

  private record Found(TokenPlace place, RecordedTokens tokens) {}

  /** What to do about tokens that were made on another major version of the broker. */
  @FunctionalInterface
  public interface Upgrade {
    /** Makes their queues what this version wants, if nobody is in the way; returns whether they are. */
    boolean attempt(Call call);
  }

  /** Of the locks with such names. */
  public TokenDirectory(QueueNames names, TokenRecords records, Upgrade upgrade) {
    this.names = names;
    this.records = records;
    this.upgrade = upgrade;
  }

  /** Where the lock's tokens are; empty if the lock does not exist. */
  Optional<TokenPlace> find(Call call, Session session) {
    LockId lock = call.lock();
    if (names.hasPlainTokens(lock)) {
      return Optional.of(new TokenPlace(names.tokens(lock, 0), TokenQueueType.CLASSIC, true));
    }
    Found known = places.get(lock);
    if (known == null) {
      return read(call, session);
    }
    known.tokens.readBy(session);
    return upgraded(call, session, known);
  }

  private Optional<TokenPlace> read(Call call, Session session) {
    LockId lock = call.lock();
    Optional<Found> found =
        records
            .read(call, session, lock)
            .filter(TokenRecord::exists)
            .map(record -> found(lock, record, session));
    if (places.size() >= MOST_REMEMBERED) {
      places.clear();
    }
    if (found.isEmpty()) {
      return Optional.empty();
    }
    places.put(lock, found.get());
    return upgraded(call, session, found.get());
  }

  /** Where they are after an upgrade of the broker, which is tried now and then if it is due. */
  private Optional<TokenPlace> upgraded(Call call, Session session, Found found) {
    if (found.tokens.isDueForUpgrade(call.ticker().nanos()) && upgrade.attempt(call)) {
      places.remove(call.lock(), found);
      return read(call, session);
    }
    return Optional.of(found.place);
  }

  private Found found(LockId lock, TokenRecord record, Session session) {
    RecordedTokens tokens = new RecordedTokens(lock, records, record, session);
    String queue = names.tokens(lock, record.generation());
    return new Found(new TokenPlace(queue, record.type(), false, tokens), tokens);
  }

  /** That queue has gone. */
  void forget(LockId lock, TokenPlace place) {
    places.computeIfPresent(lock, (id, found) -> found.place.equals(place) ? null : found);
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
