package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.fencing.QueueRetentionCheck;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.tokens.admin.BrokerTokens.UnackedTokens;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the record of one token semaphore, for an administrator whose turn it is.
 *
 * <p>There are two copies. All clients read the <em>record</em> queue, by taking the message and
 * putting it back. So an administrator that finds an old version there cannot know whether a reader
 * has received a newer one. Therefore the truth is in the <em>ledger</em> queue, from which only
 * the administrator with the turn takes messages. A write publishes the new version to the ledger,
 * and then removes the old one there. After that it does the same in the record. Between these
 * steps there may be two versions, and the higher one counts. Tokens are changed only when all of
 * that is done.
 *
 * <p>Any client that may publish to the default exchange may publish to either queue. A message
 * that is no record is removed. A forged copy is detected by the ledger. A forged message in the
 * ledger itself cannot be detected.
 *
 * <p>The file is above 300 lines because the order of reads and writes of both copies is one
 * argument.
 */
final class TokenLedger implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TokenLedger.class);

  /** How long it looks for what a reader has in hand, which takes a round trip. */
  private static final long READER_TIMEOUT_NANOS = 500_000_000;

  /**
   * How long it looks for what the last administrator had in hand. A busy broker takes its time to
   * put that back when the connection has ended. What is not there by then is lost.
   */
  private static final long LEDGER_TIMEOUT_NANOS = 5_000_000_000L;

  private static final long PAUSE_NANOS = 10_000_000;

  /** There are two messages between two steps, but anybody may have published any number. */
  private static final int MOST = 10_000;

  private final LockId lock;
  private final TokenRecords records;
  private final String ledger;
  private final String copy;
  private final TokenAdminConnection connection;
  private final Supplier<Call> calls;
  private UnackedTokens unacked;
  private final List<Message> taken = new ArrayList<>();
  private boolean ledgerIsThere;
  private boolean copyIsThere;

  TokenLedger(
      LockId lock, TokenRecords records, TokenAdminConnection connection, Supplier<Call> calls) {
    this.lock = lock;
    this.records = records;
    this.connection = connection;
    this.calls = calls;
    ledger = records.names().tokenLedger(lock);
    copy = records.names().tokenRecord(lock);
    ledgerIsThere = connection.count(calls.get(), ledger).isPresent();
    copyIsThere = connection.count(calls.get(), copy).isPresent();
    unacked = unacked(ledger);
  }

  private UnackedTokens unacked(String queue) {
    return new UnackedTokens(connection.unacked(calls.get(), queue, TokenQueueType.QUORUM), calls);
  }

  /** The present record; a blank one if there never was any. */
  TokenRecord read() {
    if (!ledgerIsThere && !copyIsThere) {
      return TokenRecord.BLANK;
    }
    Optional<TokenRecord> record = ledgerIsThere ? readLedger() : Optional.empty();
    if (record.isPresent()) {
      correctCopy(record.get());
      renewIfOutdated(record.get());
      return record.get();
    }
    if (!copyIsThere) {
      requireNoDoubt(ledger, texts(taken));
      // The administrator that created the ledger died before it wrote anything.
      return TokenRecord.BLANK;
    }
    List<String> published = readCopy();
    requireNoDoubt(ledger, texts(taken));
    requireNoDoubt(copy, published);
    TokenRecord newest =
        records
            .newest(published)
            .orElseThrow(
                () ->
                    new LockException.Unexpected(
                        "The record of %s is neither in queue %s nor in queue %s; if that lasts for more"
                                .formatted(lock, ledger, copy)
                            + " than a minute, it was lost: delete both queues and the tokens' own, and"
                            + " create the lock again",
                        null));
    if (ledgerIsThere) {
      throw new LockException.Unexpected(
          "The record of %s is not in queue %s; if that lasts for more than a minute, it was lost:"
                  .formatted(lock, ledger)
              + " delete that queue, and it is restored from queue %s".formatted(copy),
          null);
    }
    writeLedger(newest);
    return newest;
  }

  /** Throws if the queue has a doubtful record, and no other one. */
  private void requireNoDoubt(String queue, List<String> texts) {
    if (records.newest(texts).isEmpty()) {
      records
          .doubt(texts)
          .ifPresent(
              why -> {
                throw TokenRecords.doubtful(lock, queue, why);
              });
    }
  }

  private static List<String> texts(List<Message> messages) {
    return messages.stream().map(Message::text).toList();
  }

  /** Looks again and again. Returns whether what it looks for came in time. */
  private boolean comes(long timeoutNanos, BooleanSupplier look) {
    Ticker ticker = calls.get().ticker();
    long begin = ticker.nanos();
    while (!look.getAsBoolean()) {
      if (ticker.nanos() - begin >= timeoutNanos) {
        return false;
      }
      Futures.pause(PAUSE_NANOS);
    }
    return true;
  }

  private Optional<TokenRecord> readLedger() {
    boolean unused =
        comes(
            LEDGER_TIMEOUT_NANOS,
            () -> {
              taken.addAll(unacked.take(MOST));
              return records.newest(texts(taken)).isPresent();
            });
    Optional<TokenRecord> newest = records.newest(texts(taken));
    newest.ifPresent(this::clearLedger);
    return newest;
  }

  /**
   * Removes messages that are no record, or that are not to be believed. Older versions are removed
   * by the next change.
   */
  private void clearLedger(TokenRecord newest) {
    List<Message> strange =
        taken.stream().filter(message -> isStrange(message, newest.version())).toList();
    if (!strange.isEmpty()) {
      log.warn(
          "{} messages in queue {} are no record of {} and were removed; see who may publish to the"
              + " default exchange",
          strange.size(),
          ledger,
          lock);
      unacked.remove(strange);
      taken.removeAll(strange);
    }
  }

  /**
   * Whether the message is no credible record, or has a version above the given one. No
   * administrator that knew that version, or an earlier one, wrote such a message.
   */
  private boolean isStrange(Message message, long version) {
    return records
        .newest(List.of(message.text()))
        .map(record -> record.version() > version)
        .orElse(true);
  }

  private List<String> readCopy() {
    try (UnackedTokens copies = unacked(copy)) {
      return texts(copies.take(MOST));
    }
  }

  /**
   * Corrects the copy. It is written after the ledger, so it has the same version or the one before
   * it. Any other content was written by somebody else.
   */
  private void correctCopy(TokenRecord record) {
    if (!copyIsThere) {
      writeCopy(record);
      return;
    }
    if (!comes(READER_TIMEOUT_NANOS, () -> isCorrected(record, false))) {
      boolean unused = isCorrected(record, true);
    }
  }

  /** Returns false if a reader may have the copy in hand, and it is not to be written anew. */
  private boolean isCorrected(TokenRecord record, boolean writes) {
    String text = record.toString();
    try (UnackedTokens copies = unacked(copy)) {
      List<Message> there = copies.take(MOST);
      if (there.stream().filter(message -> message.text().equals(text)).count() > 1) {
        // The broker may have sent one of them twice.
        there = copies.again();
      }
      if (there.isEmpty() && !writes) {
        return false;
      }
      List<Message> same = there.stream().filter(message -> message.text().equals(text)).toList();
      List<Message> others = new ArrayList<>(there);
      others.removeAll(same);
      long strange =
          others.stream().filter(message -> isStrange(message, record.version() - 1)).count();
      if (strange > 0) {
        log.warn(
            "{} messages in queue {} say something else of {} than the administrators' own record, and were"
                + " removed; see who may publish to the default exchange",
            strange,
            copy,
            lock);
      }
      if (same.isEmpty()) {
        connection.publish(calls.get(), copy, List.of(text));
      }
      // It was written more than once if somebody had it in hand meanwhile.
      others.addAll(same.stream().skip(1).toList());
      copies.remove(others);
      return true;
    }
  }

  /**
   * Creates the two queues anew, one after the other, if a broker of an older version created them.
   * While one is replaced, the other one has the record. Unlike names of token queues, their names
   * are used again (trap 11). An old replica can only bring back an old version, which does not
   * count.
   */
  private void renewIfOutdated(TokenRecord record) {
    boolean ledgerIsAsWanted = connection.isRecordAsWanted(calls.get(), ledger);
    boolean copyIsAsWanted = connection.isRecordAsWanted(calls.get(), copy);
    if ((ledgerIsAsWanted && copyIsAsWanted) || !isTriedOut()) {
      return;
    }
    if (!ledgerIsAsWanted) {
      unacked.close();
      taken.clear();
      renew(ledger, record);
      unacked = unacked(ledger);
      taken.addAll(unacked.take(MOST));
    }
    if (!copyIsAsWanted) {
      renew(copy, record);
    }
    log.info("The queues of the record of {} were made anew for this version of the broker", lock);
  }

  /**
   * Whether a trial queue keeps its messages. If some nodes of a cluster are older, arguments that
   * are right for one version destroy messages on the other.
   */
  private boolean isTriedOut() {
    try {
      QueueRetentionCheck.run(
          calls, connection, random -> records.names().recordTrial(lock, random));
      return true;
    } catch (LockException.FenceUnavailable e) {
      log.warn(
          "The queues of the record of {} must be made anew for this version of the broker, and cannot be yet:"
              + " {}",
          lock,
          e.getMessage());
      return false;
    }
  }

  private void renew(String queue, TokenRecord record) {
    connection.delete(calls.get(), queue);
    connection.declareRecord(calls.get(), queue);
    connection.publish(calls.get(), queue, List.of(record.toString()));
  }

  /** Writes the next version. */
  void write(TokenRecord next) {
    writeLedger(next);
    writeCopy(next);
  }

  private void writeLedger(TokenRecord next) {
    if (!ledgerIsThere) {
      connection.declareRecord(calls.get(), ledger);
      ledgerIsThere = true;
    }
    connection.requireTurn(calls.get());
    connection.publish(calls.get(), ledger, List.of(next.toString()));
    unacked.remove(taken);
    taken.clear();
    taken.addAll(unacked.take(MOST));
  }

  /**
   * Writes the copy. A reader that has the older version in hand puts it back soon, and it must not
   * stay: a client that finds it alone would take a new token for a forged one.
   */
  private void writeCopy(TokenRecord next) {
    boolean wasThere = copyIsThere;
    if (!copyIsThere) {
      connection.declareRecord(calls.get(), copy);
      copyIsThere = true;
    }
    connection.publish(calls.get(), copy, List.of(next.toString()));
    boolean unused =
        hasReplaced(next) || (wasThere && comes(READER_TIMEOUT_NANOS, () -> hasReplaced(next)));
  }

  /** Removes older versions of the copy. Returns whether there was one. */
  private boolean hasReplaced(TokenRecord next) {
    try (UnackedTokens copies = unacked(copy)) {
      List<Message> older =
          copies.take(MOST).stream()
              .filter(message -> !message.text().equals(next.toString()))
              .toList();
      copies.remove(older);
      return !older.isEmpty();
    }
  }

  /**
   * Deletes both queues. The record, which all clients read, is deleted first. So the truth remains
   * if the administrator dies in between.
   */
  void delete() {
    connection.delete(calls.get(), copy);
    copyIsThere = false;
    unacked.close();
    taken.clear();
    connection.delete(calls.get(), ledger);
    ledgerIsThere = false;
  }

  @Override
  public void close() {
    unacked.close();
  }
}
