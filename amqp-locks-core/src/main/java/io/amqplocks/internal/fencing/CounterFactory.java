package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the counters of slots, one generation after the other. It checks what the broker does
 * with such a queue, creates the new counter, deletes the old one, and declares the epoch queue of
 * the new one.
 *
 * <p>Nobody reads the new counter before that last step. Nobody can read the old counter after the
 * step before. So each token of the new counter is drawn after each token of the old one. A creator
 * that dies on the way leaves no counter at worst, and never two. The next creator may find a
 * counter without its epoch queue. It does not use the content of that counter, because nobody can
 * say whether it was filled. It goes on to the next generation, because a name is never used twice
 * (trap 11).
 */
public final class CounterFactory {

  private static final Logger log = LoggerFactory.getLogger(CounterFactory.class);

  private static final int MAX_GENERATION = 999;
  private static final long PAUSE_NANOS = 20_000_000;

  /** In minutes. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  private final QueueNames names;
  private final Clock clock;

  /** Creates a factory for locks whose queues have those names. Epochs follow the clock. */
  public CounterFactory(QueueNames names, Clock clock) {
    this.names = names;
    this.clock = clock;
  }

  /**
   * Creates the first counter ever of the slot, unless another client is faster. Returns the
   * generation that is in use.
   */
  int begin(Call call, Session session, LockId lock, int slot) {
    try (CounterAdminConnection connection = CounterAdminConnection.open(call, session)) {
      while (true) {
        boolean taken = connection.take(call, names.counterAdmin(lock, slot));
        int newest = newest(call, connection, lock, slot);
        if (newest > 0) {
          return newest;
        }
        if (taken) {
          tryOut(call, connection, lock);
          return make(call, connection, lock, slot, 0, 0).generation();
        }
        awaitTurn(call, slot);
      }
    }
  }

  /**
   * Replaces the counter by a new one. Its epoch is above the given one, and above the old
   * counter's. Returns the new epoch.
   */
  long renew(Call call, Session session, LockId lock, int slot, long aboveEpoch) {
    try (CounterAdminConnection connection = CounterAdminConnection.open(call, session)) {
      while (!connection.take(call, names.counterAdmin(lock, slot))) {
        awaitTurn(call, slot);
      }
      int newest = newest(call, connection, lock, slot);
      tryOut(call, connection, lock);
      long above = aboveEpoch;
      if (newest > 0) {
        above = Math.max(above, epoch(call, session, names.counter(lock, slot, newest)));
      }
      Made made = make(call, connection, lock, slot, newest, above);
      log.info("The fence of slot {} of {} was renewed with epoch {}", slot, lock, made.epoch());
      return made.epoch();
    }
  }

  /**
   * Whether a creator of counters may have written that content. A creator takes the time of the
   * clock, or one more than the last epoch. An epoch that is more than ten years ahead of the clock
   * was published by somebody else. It would be followed by higher ones for ever.
   */
  boolean isBelievable(CounterContent content) {
    return content.isInRange()
        && content.epoch() <= clock.instant().getEpochSecond() / 60 + TEN_YEARS;
  }

  private void tryOut(Call call, CounterAdminConnection connection, LockId lock) {
    QueueRetentionCheck.run(() -> call, connection, random -> names.counterTrial(lock, random));
  }

  private record Made(int generation, long epoch) {}

  private Made make(
      Call call,
      CounterAdminConnection connection,
      LockId lock,
      int slot,
      int newest,
      long aboveEpoch) {
    int next = newest + 1;
    while (connection.exists(call, names.counter(lock, slot, next))) {
      // The epoch queue comes first. If it exists and only its node is down, this fails and nothing
      // is lost.
      connection.declareEpoch(call, names.epoch(lock, slot, next));
      connection.delete(call, names.counter(lock, slot, next));
      next++;
    }
    // The generation is added, so that the epoch rises even if the clock does not.
    long epoch = Math.max(clock.instant().getEpochSecond() / 60 + next, aboveEpoch + 1);
    CounterContent content = new CounterContent(epoch, connection.brokerMajor());
    if (next > MAX_GENERATION || !isBelievable(content)) {
      throw new LockException.FenceUnavailable(
          "The fence of slot %d of %s was renewed too often, or to be above a number that no fence gave:"
                  .formatted(slot, lock)
              + " generation %d, epoch %d, which may be ten years of minutes ahead of the clock"
                  .formatted(next, epoch));
    }
    String counter = names.counter(lock, slot, next);
    connection.make(call, counter, content.toString());
    QueueRetentionCheck.require(call, counter, connection.read(call, counter), 0);
    if (newest > 0) {
      connection.delete(call, names.counter(lock, slot, newest));
    }
    connection.declareEpoch(call, names.epoch(lock, slot, next));
    return new Made(next, epoch);
  }

  /**
   * The epoch of a counter that may be lost. It is not read on the connection that has the turn,
   * because a quorum queue without a majority replies by closing the connection.
   */
  private long epoch(Call call, Session session, String counter) {
    try {
      MessageReading reading = session.reader().read(call.half(), counter);
      return CounterContent.parse(reading.content())
          .filter(this::isBelievable)
          .map(content -> FencingToken.epochOf(number(content, reading)))
          .orElse(0L);
    } catch (LockException e) {
      log.warn("The old {} cannot be read any more: {}", counter, e.getMessage());
      return 0;
    }
  }

  /** The number that the next draw would have given. It may be of a later minute than the epoch. */
  private static long number(CounterContent content, MessageReading reading) {
    return new FencingToken(1, content.epoch(), Math.min(reading.returns(), FencingToken.MAX_N))
        .number();
  }

  private int newest(Call call, CounterAdminConnection connection, LockId lock, int slot) {
    int newest = 0;
    while (connection.exists(call, names.epoch(lock, slot, newest + 1))) {
      newest++;
    }
    return newest;
  }

  private static void awaitTurn(Call call, int slot) {
    if (call.remainingNanos() <= PAUSE_NANOS) {
      throw new LockException.FenceUnavailable(
          "Another process has been making the counter of slot %d of %s for more than %d ms; try again"
                  .formatted(slot, call.lock(), call.bound().toMillis())
              + " later");
    }
    Futures.pause(PAUSE_NANOS);
  }
}
