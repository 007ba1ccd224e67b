package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of one queue, by the newest record that this process has read. Every user that may
 * publish to the default exchange can put a lookalike into the queue. A message that the record
 * does not name is not a token. A true copy of a named token is found by an audit, not here.
 *
 * <p>Why no true token is taken for a forged one: the record names a token before it is published,
 * and each token has an epoch above all that the record named before. So a token of an epoch that
 * the record has passed is named by this version of the record, or by none that follows. A token of
 * a higher epoch may be newer than the version that was read, if another reader had the newest
 * version in hand at that moment. In that case the record is read again and again for a while,
 * since a message that is taken for a forged one is removed, and a true token would be lost for
 * good. An older version is visible at such a moment only if a reader had that one in hand while
 * the newer one was written; {@code TokenLedger} waits for it. So a reader that is stopped for
 * longer than both wait does harm only if another one is stopped as well, or if the version that it
 * has in hand was written a second time meanwhile.
 *
 * <p>Concurrency: the known record is replaced by newer versions only.
 */
final class RecordedTokens implements TokenQueueRef.TokenRegister {

  /** How long the newest version is looked for: half of the call's bound, within these limits. */
  private static final long LEAST_SEARCH_NANOS = 250_000_000;

  private static final long LONGEST_SEARCH_NANOS = 1_000_000_000;

  private static final long PAUSE_NANOS = 10_000_000;
  private static final long UPGRADE_EVERY_NANOS = 30_000_000_000L;

  /** An attempt of this process to upgrade the queues. */
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

  /** Sets the session that reads the record from now on, if it has to be read. */
  void readBy(Session session) {
    if (reader != session) {
      reader = session;
      outdated = isOfAnotherMajor(session);
    }
  }

  /**
   * Whether the queue was made on another major version. RabbitMQ is upgraded between two sessions,
   * never during one.
   */
  private boolean isOfAnotherMajor(Session session) {
    int major = session.broker().major();
    return major > 0 && major != known.get().brokerMajor();
  }

  /**
   * Whether the queue was made on another major version of the broker, and this process has not
   * tried to upgrade it lately. If so, the attempt is the caller's.
   */
  boolean isDueForUpgrade(long now) {
    Attempt last = tried.get();
    return outdated
        && (last == null || now - last.at >= UPGRADE_EVERY_NANOS)
        && tried.compareAndSet(last, new Attempt(now));
  }

  @Override
  public boolean isBelowLaterOnes(FencingToken token) {
    return records.epochs().isBelowLaterOnes(token);
  }

  /**
   * {@inheritDoc}
   *
   * @throws LockException.Unanswered if the call ends before it is known
   */
  @Override
  public boolean has(Call call, Session session, TokenContent token) {
    long search =
        Math.max(LEAST_SEARCH_NANOS, Math.min(call.bound().toNanos() / 2, LONGEST_SEARCH_NANOS));
    long begin = call.ticker().nanos();
    for (int looks = 0; !known.get().has(token); looks++) {
      if (looks > 0) {
        if (token.epoch() <= known.get().epoch() || call.ticker().nanos() - begin >= search) {
          return false;
        }
        if (call.remainingNanos() == 0) {
          throw call.unanswered("find the record that names a token which it received");
        }
        Futures.pause(PAUSE_NANOS);
      }
      Session way = reader;
      Optional<TokenRecord> read = records.read(call, way.isOpen() ? way : session, lock);
      if (read.isPresent()) {
        if (read.get().generation() > known.get().generation()) {
          return false;
        }
        known.accumulateAndGet(read.get(), (old, now) -> now.version() > old.version() ? now : old);
      }
    }
    return true;
  }
}
