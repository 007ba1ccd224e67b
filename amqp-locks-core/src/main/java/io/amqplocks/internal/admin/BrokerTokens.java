package io.amqplocks.internal.admin;

import io.amqplocks.internal.fencing.CounterTrial;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.MessageHand;
import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.TokenQueueType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** A real broker's tokens, in the hands of an administrator whose turn it is. */
final class BrokerTokens implements TokenBroker, AutoCloseable {

  /** Of that many steps each is bounded as one call. */
  private static final int BATCH = 100;

  private final LockId lock;
  private final QueueNames names;
  private final TokenKeeper keeper;
  private final Supplier<Call> calls;
  private final TokenLedger ledger;

  BrokerTokens(LockId lock, TokenRecords records, TokenKeeper keeper, Supplier<Call> calls) {
    this.lock = lock;
    names = records.names();
    this.keeper = keeper;
    this.calls = calls;
    ledger = new TokenLedger(lock, records, keeper, calls);
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
  public void forget() {
    ledger.delete();
  }

  @Override
  public int brokerMajor() {
    return keeper.brokerMajor();
  }

  @Override
  public void tryOut(TokenQueueType type) {
    CounterKeeper counters = keeper.counters(calls.get());
    CounterTrial.run(calls, counters, random -> names.recordTrial(lock, random));
    if (type == TokenQueueType.QUORUM) {
      CounterTrial.run(calls, counters, random -> names.tokenTrial(lock, random));
    } else if (names.hasPlainTokens(lock)) {
      PlainTrial.run(calls, keeper, names.tokenTrial(lock, CounterTrial.random()));
    }
  }

  @Override
  public OptionalInt idle(int generation) {
    return keeper.count(calls.get(), queue(generation));
  }

  @Override
  public void make(int generation, TokenQueueType type) {
    if (names.hasPlainTokens(lock)) {
      keeper.declarePlainTokens(calls.get(), queue(generation));
    } else {
      keeper.declareTokens(calls.get(), queue(generation), type);
    }
  }

  @Override
  public void publish(int generation, List<TokenContent> tokens) {
    keeper.publish(
        calls.get(), queue(generation), tokens.stream().map(TokenContent::toString).toList());
  }

  @Override
  public void delete(int generation) {
    keeper.delete(calls.get(), queue(generation));
  }

  @Override
  public Hand hand(int generation) {
    return new TokenHand(keeper.hand(calls.get(), queue(generation)), calls);
  }

  private String queue(int generation) {
    return names.tokens(lock, generation);
  }

  /** A hand of the broker's messages. */
  record TokenHand(MessageHand messages, Supplier<Call> calls) implements Hand {

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
        int now = Math.min(MessageHand.MOST_REMOVED, left.size());
        messages.remove(calls.get(), left.subList(0, now));
        left = left.subList(now, left.size());
      }
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
