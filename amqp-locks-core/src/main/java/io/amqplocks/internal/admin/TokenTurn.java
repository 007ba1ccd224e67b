package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.internal.waiting.Backoff;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
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
 * @param patience how long one administrator waits for another
 */
public record TokenTurn(
    LockId lock,
    QueueNames names,
    Sessions sessions,
    Duration callTimeout,
    Ticker ticker,
    Clock clock,
    Duration patience) {

  /** How long one administrator waits for another unless its caller has less time. */
  public static final Duration PATIENCE = Duration.ofSeconds(30);

  /** A call on this semaphore. */
  Call call() {
    return Call.on(lock, callTimeout, ticker);
  }

  /** Reads its record, as anybody may. */
  TokenRecords records() {
    return new TokenRecords(names, clock);
  }

  /** A connection to work by; without the turn. */
  TokenKeeper connect() {
    Call call = call();
    return sessions.current(call).counters().administrateTokens(call);
  }

  /** Changes something as the only administrator, on a connection for just that. */
  <T> T during(Function<TokenSteps, T> change) {
    Call wait = Call.on(lock, patience, ticker);
    while (true) {
      try (TokenKeeper keeper = connect()) {
        if (take(keeper, wait, this::requireOpen)) {
          return work(keeper, change);
        }
      }
    }
  }

  /** Changes something as the only administrator on that connection, which stays open. */
  <T> T during(TokenKeeper keeper, Function<TokenSteps, T> change) {
    return during(keeper, change, this::requireOpen);
  }

  /**
   * The same for one that may have to stop.
   *
   * @param goOn throws if it is to stop
   */
  <T> T during(TokenKeeper keeper, Function<TokenSteps, T> change, Runnable goOn) {
    if (!take(keeper, Call.on(lock, patience, ticker), goOn)) {
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
  private boolean take(TokenKeeper keeper, Call wait, Runnable goOn) {
    Backoff backoff = new Backoff();
    try {
      while (!keeper.take(call(), names.tokenAdmin(lock))) {
        goOn.run();
        await(wait, backoff);
      }
      goOn.run();
      return true;
    } catch (LockException.Unreachable e) {
      goOn.run();
      await(wait, backoff);
      return false;
    }
  }

  private void requireOpen() {
    sessions.requireNotClosed(call());
  }

  private void await(Call wait, Backoff backoff) {
    if (wait.remainingNanos() == 0) {
      throw new LockException.AcquireTimeout(
          "Another administrator of %s is at work for more than %d ms; try again later"
              .formatted(lock, patience.toMillis()));
    }
    try {
      TimeUnit.NANOSECONDS.sleep(Math.min(wait.remainingNanos(), backoff.next()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer " + lock);
    }
  }

  private <T> T work(TokenKeeper keeper, Function<TokenSteps, T> change) {
    try (BrokerTokens broker = new BrokerTokens(lock, records(), keeper, this::call)) {
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
