package io.amqplocks.internal.admin;

import io.amqplocks.internal.admin.BrokerTokens.TokenHand;
import io.amqplocks.internal.fencing.CounterTrial;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the record of one token semaphore for an administrator whose turn it is.
 *
 * <p>There are two copies. From the <em>record</em> queue all read, by taking the message and putting it
 * back: an administrator that found an old version there could not know of a newer one in a reader's
 * hand. So the truth is in the <em>ledger</em> queue, whose messages nobody takes but whoever has the
 * turn. To write is to publish the new version there, then to remove the old one, then the same with the
 * record. Between these steps there may be two versions; the higher one counts. An effect on tokens
 * begins when all of that is done.
 *
 * <p>Anybody may have published to either, who may publish to the default exchange. What is no record is
 * removed; a forged copy is found out by the ledger; one in the ledger itself nobody can tell.
 */
final class TokenLedger implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(TokenLedger.class);

  /** For the broker to put back what an administrator had in hand that has just died. */
  private static final long PATIENCE_NANOS = 500_000_000;

  private static final long PAUSE_NANOS = 10_000_000;

  /** Two are there between two steps; anybody may have published any number. */
  private static final int MOST = 10_000;

  private final LockId lock;
  private final TokenRecords records;
  private final String ledger;
  private final String copy;
  private final TokenKeeper keeper;
  private final Supplier<Call> calls;
  private TokenHand hand;
  private final List<Message> inHand = new ArrayList<>();
  private boolean ledgerIsThere;
  private boolean copyIsThere;

  TokenLedger(LockId lock, TokenRecords records, TokenKeeper keeper, Supplier<Call> calls) {
    this.lock = lock;
    this.records = records;
    this.keeper = keeper;
    this.calls = calls;
    ledger = records.names().tokenLedger(lock);
    copy = records.names().tokenRecord(lock);
    ledgerIsThere = keeper.count(calls.get(), ledger).isPresent();
    copyIsThere = keeper.count(calls.get(), copy).isPresent();
    hand = hand(ledger);
  }

  private TokenHand hand(String queue) {
    return new TokenHand(keeper.hand(calls.get(), queue), calls);
  }

  /** The record as it stands; a blank one if there never was any. */
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
      requireNoDoubt(ledger, texts(inHand));
      // Who made the ledger died before it wrote anything.
      return TokenRecord.BLANK;
    }
    List<String> published = readCopy();
    requireNoDoubt(ledger, texts(inHand));
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

  /** For one in doubt there must be another in the same queue. */
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

  private Optional<TokenRecord> readLedger() {
    long tries = PATIENCE_NANOS / PAUSE_NANOS;
    for (int i = 0; i < tries; i++) {
      inHand.addAll(hand.take(MOST));
      if (records.newest(texts(inHand)).isPresent()) {
        break;
      }
      Futures.pause(PAUSE_NANOS);
    }
    Optional<TokenRecord> newest = records.newest(texts(inHand));
    newest.ifPresent(this::clearLedger);
    return newest;
  }

  /** Removes what is no record, or none to be believed. Older versions go with the next change. */
  private void clearLedger(TokenRecord newest) {
    List<Message> strange =
        inHand.stream().filter(message -> isStrange(message, newest.version())).toList();
    if (!strange.isEmpty()) {
      log.warn(
          "{} messages in queue {} are no record of {} and were removed; see who may publish to the"
              + " default exchange",
          strange.size(),
          ledger,
          lock);
      hand.remove(strange);
      inHand.removeAll(strange);
    }
  }

  /** Whether no administrator wrote it that knew of that version, or of one before it. */
  private boolean isStrange(Message message, long version) {
    return records
        .newest(List.of(message.text()))
        .map(record -> record.version() > version)
        .orElse(true);
  }

  private List<String> readCopy() {
    try (TokenHand copies = hand(copy)) {
      return texts(copies.take(MOST));
    }
  }

  /**
   * The copy is written after the ledger, so it says the same, or less by one change. What says more, or
   * something else, was written by somebody else.
   */
  private void correctCopy(TokenRecord record) {
    if (!copyIsThere) {
      writeCopy(record);
      return;
    }
    String text = record.toString();
    try (TokenHand copies = hand(copy)) {
      List<Message> there = copies.take(MOST);
      List<Message> others =
          there.stream().filter(message -> !message.text().equals(text)).toList();
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
      if (others.size() == there.size()) {
        keeper.publish(calls.get(), copy, List.of(text));
      }
      copies.remove(others);
    }
  }

  /**
   * Makes the two queues anew, one after the other, if a broker of an older version made them: the one has
   * what is written in the other. Their names are used again, other than those of tokens (trap 11): what
   * comes back with an old replica is an old version, which does not count.
   */
  private void renewIfOutdated(TokenRecord record) {
    boolean ledgerIsAsWanted = keeper.isRecordAsWanted(calls.get(), ledger);
    boolean copyIsAsWanted = keeper.isRecordAsWanted(calls.get(), copy);
    if ((ledgerIsAsWanted && copyIsAsWanted) || !isTriedOut()) {
      return;
    }
    if (!ledgerIsAsWanted) {
      hand.close();
      inHand.clear();
      renew(ledger, record);
      hand = hand(ledger);
      inHand.addAll(hand.take(MOST));
    }
    if (!copyIsAsWanted) {
      renew(copy, record);
    }
    log.info("The queues of the record of {} were made anew for this version of the broker", lock);
  }

  /** In a cluster of which some nodes are older, what is right for the one version destroys on the other. */
  private boolean isTriedOut() {
    try {
      CounterKeeper counters = keeper.counters(calls.get());
      CounterTrial.run(calls, counters, random -> records.names().recordTrial(lock, random));
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
    keeper.delete(calls.get(), queue);
    keeper.declareRecord(calls.get(), queue);
    keeper.publish(calls.get(), queue, List.of(record.toString()));
  }

  /** Writes the next version. */
  void write(TokenRecord next) {
    writeLedger(next);
    writeCopy(next);
  }

  private void writeLedger(TokenRecord next) {
    if (!ledgerIsThere) {
      keeper.declareRecord(calls.get(), ledger);
      ledgerIsThere = true;
    }
    keeper.publish(calls.get(), ledger, List.of(next.toString()));
    hand.remove(inHand);
    inHand.clear();
    inHand.addAll(hand.take(MOST));
  }

  private void writeCopy(TokenRecord next) {
    if (!copyIsThere) {
      keeper.declareRecord(calls.get(), copy);
      copyIsThere = true;
    }
    keeper.publish(calls.get(), copy, List.of(next.toString()));
    try (TokenHand copies = hand(copy)) {
      copies.remove(
          copies.take(MOST).stream()
              .filter(message -> !message.text().equals(next.toString()))
              .toList());
    }
  }

  /** Deletes both; first what all read, so that whoever dies between leaves the truth. */
  void delete() {
    keeper.delete(calls.get(), copy);
    copyIsThere = false;
    hand.close();
    inHand.clear();
    keeper.delete(calls.get(), ledger);
    ledgerIsThere = false;
  }

  @Override
  public void close() {
    hand.close();
  }
}
