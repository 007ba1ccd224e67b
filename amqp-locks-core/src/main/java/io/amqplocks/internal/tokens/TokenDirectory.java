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
 */
public final class TokenDirectory {

  /** More locks than that have names that are made up as the application runs. */
  private static final int MOST_REMEMBERED = 10_000;

  private final QueueNames names;
  private final TokenRecords records;
  private final Map<LockId, TokenPlace> places = new ConcurrentHashMap<>();

  /** Of the locks with such names. */
  public TokenDirectory(QueueNames names, TokenRecords records) {
    this.names = names;
    this.records = records;
  }

  /** Where the lock's tokens are; empty if the lock does not exist. */
  Optional<TokenPlace> find(Call call, Session session) {
    LockId lock = call.lock();
    if (names.hasPlainTokens(lock)) {
      return Optional.of(new TokenPlace(names.tokens(lock, 0), TokenQueueType.CLASSIC, true));
    }
    TokenPlace known = places.get(lock);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<TokenPlace> place =
        records
            .read(call, session, lock)
            .filter(TokenRecord::exists)
            .map(record -> place(lock, record));
    if (places.size() >= MOST_REMEMBERED) {
      places.clear();
    }
    place.ifPresent(found -> places.put(lock, found));
    return place;
  }

  private TokenPlace place(LockId lock, TokenRecord record) {
    return new TokenPlace(names.tokens(lock, record.generation()), record.type(), false);
  }

  /** That queue has gone. */
  void forget(LockId lock, TokenPlace place) {
    places.remove(lock, place);
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
