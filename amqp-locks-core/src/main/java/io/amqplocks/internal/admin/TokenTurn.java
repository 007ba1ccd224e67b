package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.internal.waiting.Backoff;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Lets one administrator at a time change a token semaphore. Whose turn it is says an exclusive queue of
 * the very connection that does all the work: one that was overtaken has nothing left to work by.
 *
 * @param lock the semaphore
 * @param names how its queues are called
 * @param sessions the way to the broker
 * @param callTimeout the bound on each step
 * @param ticker the time
 * @param clock for epochs
 */
public record TokenTurn(
    LockId lock,
    QueueNames names,
    Sessions sessions,
    Duration callTimeout,
    Ticker ticker,
    Clock clock) {

  /** How long one administrator waits for another. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A call on this semaphore. */
  Call call() {
    return Call.on(lock, callTimeout, ticker);
  }

  /** A connection to work by; without the turn. */
  TokenKeeper connect() {
    Call call = call();
    return sessions.current(call).counters().administrateTokens(call);
  }

  /** Changes something as the only administrator, on a connection for just that. */
  <T> T during(Function<TokenSteps, T> change) {
    Call patience = Call.on(lock, PATIENCE, ticker);
    while (true) {
      try (TokenKeeper keeper = connect()) {
        if (take(keeper, patience)) {
          return work(keeper, change);
        }
      }
    }
  }

  /** Changes something as the only administrator on that connection, which stays open. */
  <T> T during(TokenKeeper keeper, Function<TokenSteps, T> change) {
    if (!take(keeper, Call.on(lock, PATIENCE, ticker))) {
      throw new LockException.Unreachable(
          "The connection to administer %s broke".formatted(lock), null);
    }
    T result = work(keeper, change);
    keeper.giveUp(call(), names.tokenAdmin(lock));
    return result;
  }

  /**
   * Waits for the turn.
   *
   * @return false if the connection broke: RabbitMQ 4.3 may close it when a declaration meets the
   *     deletion of the same queue
   */
  private boolean take(TokenKeeper keeper, Call patience) {
    Backoff backoff = new Backoff(ThreadLocalRandom.current());
    try {
      while (!keeper.take(call(), names.tokenAdmin(lock))) {
        await(patience, backoff);
      }
      return true;
    } catch (LockException.Unreachable e) {
      await(patience, backoff);
      return false;
    }
  }

  private void await(Call patience, Backoff backoff) {
    if (patience.remainingNanos() == 0) {
      throw new LockException.AcquireTimeout(
          "Another administrator of %s is at work for more than %d s; try again later"
              .formatted(lock, PATIENCE.toSeconds()));
    }
    Futures.pause(Math.min(patience.remainingNanos(), backoff.next()));
  }

  private <T> T work(TokenKeeper keeper, Function<TokenSteps, T> change) {
    try (BrokerTokens broker = new BrokerTokens(lock, names, keeper, this::call)) {
      return change.apply(steps(broker));
    }
  }

  /** The steps of the semaphore's protocol. */
  private TokenSteps steps(TokenBroker broker) {
    LongSupplier minutes = () -> clock.instant().getEpochSecond() / 60;
    return names.hasPlainTokens(lock)
        ? new PlainTokenSteps(lock, broker, minutes)
        : new TokenSteps(lock, broker, minutes);
  }

  /** Which message is which token. */
  TokenSorting sort(TokenRecord record, Collection<Message> messages) {
    return names.hasPlainTokens(lock)
        ? TokenSorting.byCount(record, messages)
        : TokenSorting.byContent(record, messages);
  }
}
