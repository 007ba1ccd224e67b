package io.amqplocks.internal.tokens.admin;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.EpochClock;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Lets one administrator at a time change a token semaphore. The turn is an exclusive queue of the
 * connection that does all the work. So an administrator that was overtaken has no connection left
 * to work on, with one exception that {@link TokenAdminConnection#requireTurn} is for.
 *
 * @param lock the semaphore
 * @param names the names of its queues
 * @param sessions the sessions to reach the broker by
 * @param callTimeout the bound on each step
 * @param ticker the time
 * @param clock the clock for epochs
 * @param timeout how long one administrator waits for another
 */
public record AdminTurn(
    LockId lock,
    QueueNames names,
    Sessions sessions,
    Duration callTimeout,
    Ticker ticker,
    Clock clock,
    Duration timeout) {

  /** The turn at another lock, with less time to wait for it. */
  AdminTurn of(LockId other, Duration atMost) {
    return new AdminTurn(other, names, sessions, callTimeout, ticker, clock, atMost);
  }

  /** A call on this semaphore. */
  Call call() {
    return Call.on(lock, callTimeout, ticker);
  }

  /** Reads the semaphore's record, as any client may. */
  TokenRecords records() {
    return new TokenRecords(names, clock);
  }

  /** Opens a connection to work on. It does not take the turn. */
  TokenAdminConnection connect() {
    Call call = call();
    return TokenAdminConnection.open(call, sessions.current(call));
  }

  /** Runs the change as the only administrator, on a connection of its own. */
  <T> T during(Function<TokenSteps, T> change) {
    TurnWait wait = waitForTurn();
    while (true) {
      try (TokenAdminConnection connection = connect()) {
        if (take(connection, wait, this::requireOpen)) {
          return work(connection, change);
        }
      }
    }
  }

  /** Runs the change as the only administrator on that connection, which stays open. */
  <T> T during(TokenAdminConnection connection, Function<TokenSteps, T> change) {
    return during(connection, change, this::requireOpen);
  }

  /**
   * Runs the change like the method above, unless it has to stop.
   *
   * @param goOn throws if the change has to stop
   */
  <T> T during(TokenAdminConnection connection, Function<TokenSteps, T> change, Runnable goOn) {
    if (!take(connection, waitForTurn(), goOn)) {
      throw new LockException.Unreachable(
          "The connection to administer %s broke".formatted(lock), null);
    }
    T result = work(connection, change);
    connection.giveUp(call());
    return result;
  }

  /**
   * Waits for the turn.
   *
   * @return false if the connection broke; RabbitMQ 4.3 may close it when a declaration coincides
   *     with the deletion of the same queue
   */
  private boolean take(TokenAdminConnection connection, TurnWait wait, Runnable goOn) {
    try {
      wait.until(
          () -> {
            boolean taken = connection.take(call(), names.tokenAdmin(lock));
            goOn.run();
            return taken;
          });
      return true;
    } catch (LockException.Unreachable e) {
      goOn.run();
      wait.pause();
      return false;
    }
  }

  private void requireOpen() {
    sessions.requireNotClosed(call());
  }

  private TurnWait waitForTurn() {
    return new TurnWait(Call.on(lock, timeout, ticker), this::sleep, this::tooLong);
  }

  private LockException tooLong() {
    return new LockException.AcquireTimeout(
        "Another administrator of %s is at work for more than %d ms; try again later"
            .formatted(lock, timeout.toMillis()));
  }

  private void sleep(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer " + lock);
    }
  }

  private <T> T work(TokenAdminConnection connection, Function<TokenSteps, T> change) {
    try (BrokerTokens broker = new BrokerTokens(lock, records(), connection, this::call)) {
      return change.apply(steps(broker));
    } catch (LockException.Unreachable e) {
      // A close explains why a session ended, so it is reported instead.
      requireOpen();
      throw e;
    }
  }

  /** The steps of the semaphore's protocol. */
  private TokenSteps steps(TokenBroker broker) {
    LongSupplier minutes = new EpochClock(clock)::minutes;
    return names.hasPlainTokens(lock)
        ? new PlainTokenSteps(lock, broker, minutes)
        : new TokenSteps(lock, broker, minutes);
  }

  /** Finds out which message is which token. */
  TokenSorting sort(TokenRecord record, Collection<Message> messages) {
    return names.hasPlainTokens(lock)
        ? TokenSorting.byCount(record, messages)
        : TokenSorting.byContent(record, messages);
  }
}
