package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.EpochClock;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.MessageReading.Outcome;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates counters, one generation after the other, under a turn that one creator has
 * at a time. It checks what the broker does with such a queue, creates the new counter, deletes the
 * old one, and declares the epoch queue of the new one.
 *
 * <p>A reader uses the counter of the newest generation: the last one of those whose epoch queues
 * follow each other without a gap. Nobody reads the new counter before its epoch queue exists.
 * Nobody can read the old counter after it was deleted. So each token of the new counter is drawn
 * after each token of the old one.
 *
 * <p>A creator may die after any step, or give up a step that the broker takes all the same. What
 * it leaves is one of these:
 *
 * <ul>
 *   <li>A counter without its epoch queue. The next creator does not use it, because nobody can say
 *       whether it was filled. It goes on to the next generation, because a name is never used
 *       twice (trap 11).
 *   <li>No old counter any more. Then the fence is closed to those who remember that one, until
 *       somebody makes the next one.
 *   <li>Epoch queues behind a gap. A creator that skips generations declares their epoch queues
 *       from the last to the first. So all of them begin to count at once, by the declare of the
 *       first. The next creator finds the gap as it was, and skips more.
 * </ul>
 *
 * <p>Epoch queues are classic, and are lost with their nodes. A client that remembers a counter
 * draws from it still, and one that does not finds no epoch queue of the first generation. So a
 * creator looks for later counters before it takes a generation for unused, and deletes all old
 * counters before the new one comes into use. Its epoch is above those that can be read.
 *
 * <p>Whether an epoch queue exists must be certain. A queue whose node is down is not taken for
 * absent: the creator fails before it has changed anything.
 */
public final class CounterFactory {

  private static final Logger log = LoggerFactory.getLogger(CounterFactory.class);

  private static final int MAX_GENERATION = 999;
  private static final long PAUSE_NANOS = 20_000_000;

  /** How many connections may be tried, each of which may break when it asks for the turn. */
  private static final int CONNECTIONS = 5;

  /** With less time than this, a connection that broke is reported, and not a busy creator. */
  private static final long LEAST_NANOS = 100_000_000;

  /**
   * How many counters after an unused generation are looked for. A counter that was renewed more
   * often, and lost all of its epoch queues, is not found.
   */
  private static final int LOOK_AHEAD = 8;

  /**
   * The bound for reading one old counter. A busy one can be read within that. One without a
   * message must not use up the time for the others.
   */
  private static final Duration READ = Duration.ofSeconds(1);

  /** The same for a client that waits for a lock. */
  private static final Duration READ_SOON = Duration.ofMillis(100);

  /** In minutes. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  private final QueueNames names;
  private final EpochClock clock;

  /** Creates a factory for locks whose queues have those names. Epochs follow the clock. */
  public CounterFactory(QueueNames names, Clock clock) {
    this.names = names;
    this.clock = new EpochClock(clock);
  }

  /**
   * Creates the first generation of the counter, unless another client is faster. Returns the
   * generation that is in use.
   */
  int begin(Call call, Session session, FenceCounter counter) {
    return (int)
        inTurn(
            call,
            session,
            counter,
            (connection, hasTurn) -> {
              int newest = newest(call, connection, counter);
              if (newest > 0) {
                return OptionalLong.of(newest);
              }
              return hasTurn
                  ? OptionalLong.of(
                      begin(
                          call,
                          connection,
                          counter,
                          queue -> epoch(call, session, queue, READ_SOON)))
                  : OptionalLong.empty();
            });
  }

  /** What a creator does after it has asked for the turn; empty if it has to ask again. */
  @FunctionalInterface
  private interface Steps {
    OptionalLong run(CounterAdminConnection connection, boolean hasTurn);
  }

  /** Asks for the turn until the steps have a result. */
  private long inTurn(Call call, Session session, FenceCounter counter, Steps steps) {
    TurnWait wait = waitForTurn(call, counter);
    for (int left = CONNECTIONS; ; left--) {
      try (CounterAdminConnection connection = CounterAdminConnection.open(call, session)) {
        boolean mayBreak = left > 1;
        for (Optional<Boolean> taken = take(call, connection, counter, mayBreak);
            taken.isPresent();
            taken = take(call, connection, counter, mayBreak)) {
          OptionalLong result = steps.run(connection, taken.get());
          if (result.isPresent()) {
            return result.getAsLong();
          }
          wait.pause();
        }
      }
      wait.pause();
    }
  }

  /**
   * Asks for the turn.
   *
   * @param mayBreak whether another connection may be tried: RabbitMQ 4.3 may close the connection
   *     when a declaration coincides with the deletion of the same queue
   * @return whether it was taken; empty if the connection broke
   */
  private Optional<Boolean> take(
      Call call, CounterAdminConnection connection, FenceCounter counter, boolean mayBreak) {
    try {
      return Optional.of(connection.take(call, names.counterAdmin(counter)));
    } catch (LockException.Unreachable e) {
      if (!mayBreak || call.remainingNanos() < LEAST_NANOS) {
        throw e;
      }
      log.debug("A connection for {} broke: {}", counter, e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * The steps of a creator that has the turn and has found no counter in use.
   *
   * @param epochs reads the epoch of a counter that may be lost; 0 if it cannot be read
   */
  int begin(Call call, CounterBroker broker, FenceCounter counter, ToLongFunction<String> epochs) {
    int next = unused(call, broker, counter, 0);
    tryOut(call, broker, counter);
    long epoch = replace(call, broker, counter, 0, next, 0, epochs);
    if (next > 1) {
      log.warn(
          "Generation {}, with epoch {}, replaces those before, whose creators died or whose epoch"
              + " queues were lost: {}",
          next,
          epoch,
          counter);
    }
    return next;
  }

  /**
   * Replaces the counter by a new one. Its epoch is above the given one, and above the old
   * counter's. Returns the new epoch.
   */
  long renew(Call call, Session session, FenceCounter counter, long aboveEpoch) {
    long renewed =
        inTurn(
            call,
            session,
            counter,
            (connection, hasTurn) ->
                hasTurn
                    ? OptionalLong.of(
                        renew(
                            call,
                            connection,
                            counter,
                            aboveEpoch,
                            queue -> epoch(call, session, queue, READ)))
                    : OptionalLong.empty());
    log.info("Renewed with epoch {}: {}", renewed, counter);
    return renewed;
  }

  /**
   * The steps of an administrator that has the turn.
   *
   * @param epochs reads the epoch of a counter that may be lost; 0 if it cannot be read
   */
  long renew(
      Call call,
      CounterBroker broker,
      FenceCounter counter,
      long aboveEpoch,
      ToLongFunction<String> epochs) {
    int newest = newest(call, broker, counter);
    tryOut(call, broker, counter);
    int next = unused(call, broker, counter, newest);
    return replace(call, broker, counter, newest, next, aboveEpoch, epochs);
  }

  /**
   * Makes the generation {@code next}, deletes the counters from the newest one on, and brings it
   * into use. Those before were deleted when the newest one came into use. Returns its epoch.
   */
  private long replace(
      Call call,
      CounterBroker broker,
      FenceCounter counter,
      int newest,
      int next,
      long aboveEpoch,
      ToLongFunction<String> epochs) {
    long above = aboveEpoch;
    // An administrator that died may have deleted the old counter. The one that it had made for it
    // tells the old epoch then.
    for (int generation = Math.max(1, newest); generation < next; generation++) {
      above = Math.max(above, epochs.applyAsLong(names.counter(counter, generation)));
    }
    long epoch = make(call, broker, counter, next, above);
    for (int generation = Math.max(1, newest); generation < next; generation++) {
      broker.delete(call, names.counter(counter, generation));
    }
    for (int generation = next; generation > newest; generation--) {
      broker.declareEpoch(call, names.epoch(counter, generation));
    }
    return epoch;
  }

  /** Whether the counter was ever in use, or may have been. */
  boolean wasInUse(Call call, Session session, FenceCounter counter) {
    return session.reader().exists(call, names.epoch(counter, 1))
        || IntStream.rangeClosed(1, LOOK_AHEAD)
            .anyMatch(
                generation -> session.reader().exists(call, names.counter(counter, generation)));
  }

  /**
   * Whether a creator of counters may have written that content. A creator takes the time of the
   * clock, or one more than the last epoch. An epoch that is more than ten years ahead of the clock
   * was published by somebody else. It would be followed by higher ones for ever.
   */
  boolean isBelievable(CounterContent content) {
    return content.isInRange() && content.epoch() <= clock.minutes() + TEN_YEARS;
  }

  /** Whether the token is certainly below those of all counters that are made later. */
  boolean isBelowLaterOnes(FencingToken token) {
    return clock.isBelowLaterOnes(token);
  }

  private void tryOut(Call call, CounterBroker broker, FenceCounter counter) {
    QueueRetentionCheck.run(() -> call, broker, random -> names.counterTrial(counter, random));
  }

  /**
   * The first generation after that one whose names were never used. The one after a generation
   * that has no queue may be in use all the same, if epoch queues were lost.
   */
  private int unused(Call call, CounterBroker broker, FenceCounter counter, int newest) {
    int next = firstUnused(call, broker, counter, newest);
    for (int ahead = next + 1; ahead <= next + LOOK_AHEAD; ahead++) {
      if (broker.exists(call, names.counter(counter, ahead))) {
        next = firstUnused(call, broker, counter, ahead);
        ahead = next;
      }
    }
    return next;
  }

  private int firstUnused(Call call, CounterBroker broker, FenceCounter counter, int after) {
    int next = after + 1;
    while (broker.exists(call, names.counter(counter, next))
        || broker.exists(call, names.epoch(counter, next))) {
      next++;
    }
    return next;
  }

  /** Makes the counter of generation {@code next}, which nobody uses yet. Returns its epoch. */
  private long make(
      Call call, CounterBroker broker, FenceCounter counter, int next, long aboveEpoch) {
    // The generation is added, so that the epoch rises even if the clock does not.
    long epoch = Math.max(clock.minutes() + next, aboveEpoch + 1);
    CounterContent content = new CounterContent(epoch, broker.brokerMajor());
    if (next > MAX_GENERATION || !isBelievable(content)) {
      throw new LockException.FenceUnavailable(
          "A counter was renewed too often, or to be above a number that no fence gave, %s:"
                  .formatted(counter)
              + " generation %d, epoch %d, which may be ten years of minutes ahead of the clock"
                  .formatted(next, epoch));
    }
    String queue = names.counter(counter, next);
    broker.make(call, queue, content.toString());
    QueueRetentionCheck.require(call, queue, broker.read(call, queue), 0);
    return epoch;
  }

  /**
   * The epoch of a counter that may be lost. It is not read on the connection that has the turn,
   * because a quorum queue without a majority replies by closing the connection.
   */
  private long epoch(Call call, Session session, String counter, Duration bound) {
    try {
      MessageReading reading = readUnlessEmpty(call.half().atMost(bound), session, counter);
      return CounterContent.parse(reading.content())
          .filter(this::isBelievable)
          .map(content -> FencingToken.epochOf(number(content, reading)))
          .orElse(0L);
    } catch (LockException e) {
      log.warn("The old {} cannot be read any more: {}", counter, e.getMessage());
      return 0;
    }
  }

  /** A counter is empty while another client draws from it, for less than a round trip. */
  private static MessageReading readUnlessEmpty(Call call, Session session, String counter) {
    MessageReading reading = session.reader().read(call, counter);
    while (reading.outcome() == Outcome.EMPTY && call.remainingNanos() > PAUSE_NANOS) {
      Futures.pause(PAUSE_NANOS);
      reading = session.reader().read(call, counter);
    }
    if (reading.outcome() == Outcome.EMPTY) {
      log.warn("The old {} is empty, so its epoch is not known", counter);
    }
    return reading;
  }

  /** The number that the next draw would have given. It may be of a later minute than the epoch. */
  private static long number(CounterContent content, MessageReading reading) {
    return new FencingToken(1, content.epoch(), Math.min(reading.returns(), FencingToken.MAX_N))
        .number();
  }

  private int newest(Call call, CounterBroker broker, FenceCounter counter) {
    int newest = 0;
    while (broker.exists(call, names.epoch(counter, newest + 1))) {
      newest++;
    }
    return newest;
  }

  /** An interrupt does not end the wait, as with all steps of a call. */
  private static TurnWait waitForTurn(Call call, FenceCounter counter) {
    return new TurnWait(
        call,
        Futures::pause,
        () ->
            new LockException.FenceUnavailable(
                "Another process has been making %s, which %s needs, for more than %d ms; try again later"
                    .formatted(counter, call.lock(), call.bound().toMillis())));
  }
}
