package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.EpochClock;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the records of token semaphores, as every client may.
 *
 * <p>A record may be out of date as soon as it is read, or before: while another reader has the
 * newest version in hand, only an older one may be visible. It is sufficient for finding the token
 * queue. If that queue is gone, the record is read again.
 *
 * <p>A record with numbers out of range is not believed: it was written by a stranger, or a clock
 * is wrong.
 *
 * @param names the names of the queues
 * @param clock generations and epochs follow it
 */
public record TokenRecords(QueueNames names, Clock clock) {

  private static final Logger log = LoggerFactory.getLogger(TokenRecords.class);

  private static final long PAUSE_NANOS = 2_000_000;

  /**
   * The record of the lock; empty if the lock was never created.
   *
   * @throws LockException.Unexpected if there is a queue for it, and no record in it for half of
   *     the call, or only one that is not believed
   */
  public Optional<TokenRecord> read(Call call, Session session, LockId lock) {
    // The last request needs time for its reply.
    return look(
        call,
        call.half(),
        session,
        lock,
        () -> {
          throw hidden(call, names.tokenRecord(lock));
        });
  }

  /**
   * The same, but empty too if no record is in the queue for a quarter of the call: whoever made
   * the queue died before it wrote the record, or somebody keeps the record in hand. Who has the
   * administrators' turn can tell. The rest of the call is for that.
   */
  Optional<TokenRecord> readIfWritten(Call call, Session session, LockId lock) {
    return look(call, call.half().half(), session, lock, Optional::empty);
  }

  private Optional<TokenRecord> look(
      Call call,
      Call reading,
      Session session,
      LockId lock,
      Supplier<Optional<TokenRecord>> ifHidden) {
    String queue = names.tokenRecord(lock);
    while (true) {
      Optional<List<String>> texts = session.reader().readAll(call, queue);
      if (texts.isEmpty()) {
        return Optional.empty();
      }
      Optional<TokenRecord> newest = newest(texts.get());
      Optional<String> doubt = doubt(texts.get());
      if (newest.isPresent()) {
        doubt.ifPresent(
            why ->
                log.warn(
                    "In queue {} is a record of {} that is not believed: {}; see who may publish to the"
                        + " default exchange. Any change by an administrator removes it",
                    queue,
                    lock,
                    why));
        return newest;
      }
      // Another reader has the record, for less than a round trip.
      if (reading.remainingNanos() == 0) {
        if (doubt.isPresent()) {
          throw doubtful(lock, queue, doubt.get());
        }
        return ifHidden.get();
      }
      Futures.pause(PAUSE_NANOS);
    }
  }

  private static LockException hidden(Call call, String queue) {
    return new LockException.Unexpected(
        "The record of %s in queue %s was not to be had for %d ms; if that lasts, have an administrator"
                .formatted(call.lock(), queue, call.bound().toMillis() / 2)
            + " create or repair it: that writes it again, and removes what is no record",
        null);
  }

  /** The error for a record that is not believed. */
  public static LockException doubtful(LockId lock, String queue, String why) {
    return new LockException.Unexpected(
        "The record of %s in queue %s is not believed: %s; see that this machine's clock is right, and who"
                .formatted(lock, queue, why)
            + " may publish to the default exchange. An administrator whose clock is right writes the record"
            + " again, by admin().%s(\"%s\").repair(timeout)"
                .formatted(
                    lock.kind() == LockKind.FENCED_MUTEX ? "fencedMutex" : "tokenSemaphore",
                    lock.name()),
        null);
  }

  /** The clock as generations and epochs follow it. */
  EpochClock epochs() {
    return new EpochClock(clock);
  }

  private static Stream<TokenRecord> parsed(List<String> texts) {
    return texts.stream().flatMap(text -> TokenRecord.parse(text).stream());
  }

  /** The record with the highest version, among those that are believed. */
  public Optional<TokenRecord> newest(List<String> texts) {
    long minutes = epochs().minutes();
    return parsed(texts)
        .filter(record -> record.doubt(minutes).isEmpty())
        .max(Comparator.comparingLong(TokenRecord::version));
  }

  /** Why one of the records is not believed; empty if all are. */
  public Optional<String> doubt(List<String> texts) {
    long minutes = epochs().minutes();
    return parsed(texts).flatMap(record -> record.doubt(minutes).stream()).findFirst();
  }
}
