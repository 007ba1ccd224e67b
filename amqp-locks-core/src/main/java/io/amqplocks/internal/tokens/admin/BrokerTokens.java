package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.fencing.QueueRetentionCheck;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** The tokens of a semaphore at the broker, for an administrator whose turn it is. */
final class BrokerTokens implements TokenBroker, AutoCloseable {

  /** The most messages that one bounded call takes. */
  private static final int BATCH = 100;

  private final LockId lock;
  private final QueueNames names;
  private final TokenAdminConnection connection;
  private final Supplier<Call> calls;
  private final TokenLedger ledger;

  BrokerTokens(
      LockId lock, TokenRecords records, TokenAdminConnection connection, Supplier<Call> calls) {
    this.lock = lock;
    names = records.names();
    this.connection = connection;
    this.calls = calls;
    ledger = new TokenLedger(lock, records, connection, calls);
  }

  @Override
  public TokenRecord record() {
    return ledger.read();
  }

  @Override
  public void write(TokenRecord next) {
    ledger.write(next);
  }

  @Override
  public void enlist() {
    lock.name()
        .withoutKey()
        .filter(name -> !names.hasPlainTokens(lock))
        .map(name -> names.keys(new LockId(lock.kind(), name)))
        .ifPresent(
            index -> {
              // One that 3.x made stays. On 4.0 to 4.2 it loses an entry at its 21st return: see
              // ADR 65.
              boolean unused = connection.isRecordAsWanted(calls.get(), index);
              String entry = new KeyEntry(lock.name(), null).toString();
              connection.publish(calls.get(), index, List.of(entry));
            });
  }

  @Override
  public void forget() {
    ledger.delete();
  }

  @Override
  public int brokerMajor() {
    return connection.brokerMajor();
  }

  @Override
  public void tryOut(TokenQueueType type) {
    connection.broker().requireTokens(calls.get(), type);
    if (names.hasPlainTokens(lock)) {
      connection.broker().requirePlainTokens(calls.get());
    }
    if (!connection.broker().countsReturns()) {
      return;
    }
    QueueRetentionCheck.run(calls, connection, random -> names.recordTrial(lock, random));
    if (type == TokenQueueType.QUORUM) {
      QueueRetentionCheck.run(calls, connection, random -> names.tokenTrial(lock, random));
    } else if (names.hasPlainTokens(lock)) {
      DefaultQueueTypeCheck.run(
          calls, connection, names.tokenTrial(lock, QueueRetentionCheck.random()));
    }
  }

  @Override
  public OptionalInt idle(int generation) {
    return connection.count(calls.get(), queue(generation));
  }

  @Override
  public void make(int generation, TokenQueueType type) {
    if (names.hasPlainTokens(lock)) {
      connection.declarePlainTokens(calls.get(), queue(generation));
    } else {
      connection.declareTokens(calls.get(), queue(generation), type);
    }
  }

  @Override
  public void publish(int generation, List<TokenContent> tokens) {
    connection.requireTurn(calls.get());
    connection.publish(
        calls.get(), queue(generation), tokens.stream().map(TokenContent::toString).toList());
  }

  @Override
  public void delete(int generation) {
    connection.delete(calls.get(), queue(generation));
  }

  @Override
  public Unacked unacked(TokenRecord record) {
    String queue = queue(record.generation());
    return new UnackedTokens(connection.unacked(calls.get(), queue, record.type()), calls);
  }

  private String queue(int generation) {
    return names.tokens(lock, generation);
  }

  /** Messages that were taken from the broker. */
  record UnackedTokens(UnackedMessages messages, Supplier<Call> calls) implements Unacked {

    @Override
    public List<Message> take(int most) {
      List<Message> taken = new ArrayList<>();
      int got = BATCH;
      while (got == BATCH && taken.size() < most) {
        List<Message> batch = messages.take(calls.get(), Math.min(BATCH, most - taken.size()));
        taken.addAll(batch);
        got = batch.size();
      }
      return taken;
    }

    @Override
    public void remove(Collection<Message> which) {
      List<Message> left = which.stream().sorted(Comparator.comparingLong(Message::tag)).toList();
      while (!left.isEmpty()) {
        int now = Math.min(UnackedMessages.MOST_REMOVED, left.size());
        messages.remove(calls.get(), left.subList(0, now));
        left = left.subList(now, left.size());
      }
    }

    @Override
    public List<Message> again() {
      return messages.again(calls.get());
    }

    @Override
    public void close() {
      messages.close();
    }
  }

  @Override
  public void close() {
    ledger.close();
  }
}
