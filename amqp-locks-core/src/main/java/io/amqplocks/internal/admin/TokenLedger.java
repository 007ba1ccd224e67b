package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.MessageHand;
import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Reads and writes the record of one token semaphore for an administrator whose turn it is.
 *
 * <p>There are two copies. From the <em>record</em> queue all read, by taking the message and putting it
 * back: an administrator that found an old version there could not know of a newer one in a reader's
 * hand. So the truth is in the <em>ledger</em> queue, whose messages nobody takes but whoever has the
 * turn. To write is to publish the new version there, then to remove the old one, then the same with the
 * record. Between these steps there may be two versions; the higher one counts. An effect on tokens
 * begins when all of that is done.
 */
final class TokenLedger implements AutoCloseable {

  /** For the broker to put back what an administrator had in hand that has just died. */
  private static final long PATIENCE_NANOS = 500_000_000;

  private static final long PAUSE_NANOS = 10_000_000;
  private static final int MOST = 20;

  private final LockId lock;
  private final String ledger;
  private final String copy;
  private final TokenKeeper keeper;
  private final Supplier<Call> calls;
  private final MessageHand hand;
  private final List<Message> inHand = new ArrayList<>();
  private boolean ledgerIsThere;
  private boolean copyIsThere;

  TokenLedger(LockId lock, QueueNames names, TokenKeeper keeper, Supplier<Call> calls) {
    this.lock = lock;
    this.keeper = keeper;
    this.calls = calls;
    ledger = names.tokenLedger(lock);
    copy = names.tokenRecord(lock);
    ledgerIsThere = keeper.count(calls.get(), ledger).isPresent();
    copyIsThere = keeper.count(calls.get(), copy).isPresent();
    hand = keeper.hand(calls.get(), ledger);
  }

  /** The record as it stands; a blank one if there never was any. */
  TokenRecord read() {
    if (!ledgerIsThere && !copyIsThere) {
      return TokenRecord.BLANK;
    }
    Optional<TokenRecord> record = ledgerIsThere ? readLedger() : Optional.empty();
    Optional<TokenRecord> published = copyIsThere ? readCopy() : Optional.empty();
    if (record.isPresent()) {
      if (published.map(TokenRecord::version).orElse(0L) < record.get().version()) {
        writeCopy(record.get());
      }
      return record.get();
    }
    if (!copyIsThere) {
      // Who made the ledger died before it wrote anything.
      return TokenRecord.BLANK;
    }
    if (published.isEmpty()) {
      throw new LockException.Unexpected(
          "The record of %s is neither in queue %s nor in queue %s; if that lasts for more than a minute,"
                  .formatted(lock, ledger, copy)
              + " it was lost: delete both queues and the tokens' own, and create the lock again",
          null);
    }
    if (ledgerIsThere) {
      throw new LockException.Unexpected(
          "The record of %s is not in queue %s; if that lasts for more than a minute, it was lost:"
                  .formatted(lock, ledger)
              + " delete that queue, and it is restored from queue %s".formatted(copy),
          null);
    }
    writeLedger(published.get());
    return published.get();
  }

  private Optional<TokenRecord> readLedger() {
    long tries = PATIENCE_NANOS / PAUSE_NANOS;
    for (int i = 0; i < tries; i++) {
      inHand.addAll(hand.take(calls.get(), MOST));
      if (!inHand.isEmpty()) {
        break;
      }
      Futures.pause(PAUSE_NANOS);
    }
    return TokenRecords.newest(inHand.stream().map(Message::text).toList());
  }

  private Optional<TokenRecord> readCopy() {
    try (MessageHand copies = keeper.hand(calls.get(), copy)) {
      return TokenRecords.newest(
          copies.take(calls.get(), MOST).stream().map(Message::text).toList());
    }
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
    hand.remove(calls.get(), inHand);
    inHand.clear();
    inHand.addAll(hand.take(calls.get(), MOST));
  }

  private void writeCopy(TokenRecord next) {
    if (!copyIsThere) {
      keeper.declareRecord(calls.get(), copy);
      copyIsThere = true;
    }
    keeper.publish(calls.get(), copy, List.of(next.toString()));
    try (MessageHand copies = keeper.hand(calls.get(), copy)) {
      List<Message> old =
          copies.take(calls.get(), MOST).stream()
              .filter(message -> !message.text().equals(next.toString()))
              .toList();
      copies.remove(calls.get(), old);
    }
  }

  @Override
  public void close() {
    hand.close();
  }
}
