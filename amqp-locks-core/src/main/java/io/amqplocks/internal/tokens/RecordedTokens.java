package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one queue, by the newest record that this process has seen. Whoever may publish to the
 * default exchange may put into the queue what looks like a token; what the record does not name is none.
 * A true copy of a token that is named is not found out here, but by an audit.
 *
 * <p>Why no true token is taken for a forged one: a token is named by the record before it is published,
 * and each is of an epoch above all that the record named before. So one of an epoch that the record has
 * passed is named by it, or by none that follows. One of a higher epoch may be newer than what was read,
 * if another reader had the newest record in hand just then: the record is read again after a pause.
 *
 * <p>Concurrency: what is known is replaced by newer versions only.
 */
final class RecordedTokens implements TokenPlace.Roll {

  /** A reader has the record in hand for less than a round trip. */
  private static final int LOOKS = 3;

  private static final long PAUSE_NANOS = 10_000_000;
  private static final long UPGRADE_EVERY_NANOS = 30_000_000_000L;

  /** Somebody here tried to upgrade the queues. */
  private record Attempt(long at) {}

  private final LockId lock;
  private final TokenRecords records;
  private final AtomicReference<TokenRecord> known;
  private final AtomicReference<@Nullable Attempt> tried = new AtomicReference<>();
  private volatile Session reader;
  private volatile boolean outdated;

  RecordedTokens(LockId lock, TokenRecords records, TokenRecord known, Session reader) {
    this.lock = lock;
    this.records = records;
    this.known = new AtomicReference<>(known);
    this.reader = reader;
    outdated = isOfAnotherMajor(reader);
  }

  /** From now on that session reads, if there is something to read. */
  void readBy(Session session) {
    if (reader != session) {
      reader = session;
      outdated = isOfAnotherMajor(session);
    }
  }

  /** RabbitMQ is upgraded between two sessions, never during one. */
  private boolean isOfAnotherMajor(Session session) {
    int major = session.server().major();
    return major > 0 && major != known.get().brokerMajor();
  }

  /** Whether the broker's version is another than the queue was made for, and nobody here tried lately. */
  boolean isDueForUpgrade(long now) {
    Attempt last = tried.get();
    return outdated
        && (last == null || now - last.at >= UPGRADE_EVERY_NANOS)
        && tried.compareAndSet(last, new Attempt(now));
  }

  @Override
  public boolean has(Call call, Session session, TokenContent token) {
    for (int looks = 0; !known.get().has(token); looks++) {
      if (looks == LOOKS || (looks > 0 && token.epoch() <= known.get().epoch())) {
        return false;
      }
      if (looks > 0) {
        Futures.pause(PAUSE_NANOS);
      }
      Session way = reader;
      Optional<TokenRecord> read = records.read(call, way.isOpen() ? way : session, lock);
      if (read.isEmpty() || read.get().generation() != known.get().generation()) {
        return false;
      }
      known.accumulateAndGet(read.get(), (old, now) -> now.version() > old.version() ? now : old);
    }
    return true;
  }
}
