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
import java.util.function.Function;
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
 *   <li>No counter, if it had deleted the old one. Then the fence is closed until the renewal is
 *       repeated.
 *   <li>Epoch queues behind a gap. A creator that skips generations declares their epoch queues
 *       from the last to the first. So all of them begin to count at once, by the declare of the
 *       first, and a reader never takes a skipped counter for the newest one. The next creator
 *       finds the gap as it was, and skips more.
 *   <li>Skipped counters whose epoch queues exist. They are deleted last, since a counter without
 *       an epoch queue is what keeps its name from being used again. One that stays is in nobody's
 *       way.
 * </ul>
 *
 * <p>So each generation up to the last one has a counter or an epoch queue, whatever creators did.
 * If one has neither, its epoch queue was lost, as with a node that does not come back. If a
 * counter without an epoch queue gave more tokens than its creators took, its epoch queue was lost
 * too. A client that remembers such a counter, or a later one, draws from it still. So all old
 * counters are deleted before the new one comes into use, as in a renewal, and the new epoch is
 * above those that can be read.
 *
 * <p>Whether an epoch queue exists must be certain. A queue whose node is down is not taken for
 * absent: the creator fails before it has changed anything.
 */
public final class CounterFactory {

  private static final Logger log = LoggerFactory.getLogger(CounterFactory.class);

  private static final int MAX_GENERATION = 999;
  private static final long PAUSE_NANOS = 20_000_000;

  /**
   * How many generations after an unused one are looked at. More would have to be lost at once.
   */
  private static final int LOOK_AHEAD = 4;

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
    try (CounterAdminConnection connection = CounterAdminConnection.open(call, session)) {
      TurnWait wait = waitForTurn(call, counter);
      while (true) {
        boolean taken = connection.take(call, names.counterAdmin(counter));
        int newest = newest(call, connection, counter);
        if (newest > 0) {
          return newest;
        }
        if (taken) {
          return begin(call, connection, counter, queue -> old(call, session, queue, READ_SOON));
        }
        wait.pause();
      }
    }
  }

  /**
   * What an old counter says of itself.
   *
   * @param epoch the epoch of the next number that it would give; 0 if it cannot be read
   * @param draws how often it was drawn from, and read by creators; 0 if it cannot be read
   */
  record Old(long epoch, long draws) {
    static final Old UNKNOWN = new Old(0, 0);
  }

  /**
   * The steps of a creator that has the turn and has found no counter in use.
   *
   * @param olds reads a counter that may be lost
   */
  int begin(Call call, CounterBroker broker, FenceCounter counter, Function<String, Old> olds) {
    int first = firstUnused(call, broker, counter, 0);
    int next = unused(call, broker, counter, first);
    boolean lost = next != first;
    long above = 0;
    for (int generation = 1; generation < next; generation++) {
      Old old = olds.apply(names.counter(counter, generation));
      // Its own creator has read it, and each later one may have.
      lost |= old.draws() > next - generation;
      above = Math.max(above, old.epoch());
    }
    tryOut(call, broker, counter);
    long epoch = make(call, broker, counter, next, above);
    if (lost) {
      log.warn(
          "The epoch queue of a counter was lost, so generation {} replaces it, with epoch {}: {}",
          next,
          epoch,
          counter);
      deleteBefore(call, broker, counter, next);
    }
    announce(call, broker, counter, 0, next);
    deleteSkipped(call, broker, counter, 0, next);
    return next;
  }

  /**
   * Replaces the counter by a new one. Its epoch is above the given one, and above the old
   * counter's. Returns the new epoch.
   */
  long renew(Call call, Session session, FenceCounter counter, long aboveEpoch) {
    try (CounterAdminConnection connection = CounterAdminConnection.open(call, session)) {
      waitForTurn(call, counter).until(() -> connection.take(call, names.counterAdmin(counter)));
      long epoch =
          renew(call, connection, counter, aboveEpoch, queue -> old(call, session, queue, READ));
      log.info("Renewed with epoch {}: {}", epoch, counter);
      return epoch;
    }
  }

  /**
   * The steps of an administrator that has the turn.
   *
   * @param olds reads a counter that may be lost
   */
  long renew(
      Call call,
      CounterBroker broker,
      FenceCounter counter,
      long aboveEpoch,
      Function<String, Old> olds) {
    int newest = newest(call, broker, counter);
    tryOut(call, broker, counter);
    int next = unused(call, broker, counter, firstUnused(call, broker, counter, newest));
    long above = aboveEpoch;
    // An administrator that died may have deleted the old counter. The one that it had made for it
    // tells the old epoch then.
    for (int generation = Math.max(1, newest); generation < next; generation++) {
      above = Math.max(above, olds.apply(names.counter(counter, generation)).epoch());
    }
    long epoch = make(call, broker, counter, next, above);
    deleteBefore(call, broker, counter, next);
    announce(call, broker, counter, newest, next);
    return epoch;
  }

  /** Whether the counter was ever in use, or may have been. */
  boolean wasInUse(Call call, Session session, FenceCounter counter) {
    for (int generation = 1; generation <= 1 + LOOK_AHEAD; generation++) {
      if (session.reader().exists(call, names.epoch(counter, generation))
          || session.reader().exists(call, names.counter(counter, generation))) {
        return true;
      }
    }
    return false;
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

  /** The first generation after that one that has no queue. */
  private int firstUnused(Call call, CounterBroker broker, FenceCounter counter, int after) {
    int next = after + 1;
    while (isUsed(call, broker, counter, next)) {
      next++;
    }
    return next;
  }

  /** The first generation from that unused one on whose names were never used. */
  private int unused(Call call, CounterBroker broker, FenceCounter counter, int first) {
    int next = first;
    for (int ahead = next + 1; ahead <= next + LOOK_AHEAD; ahead++) {
      if (isUsed(call, broker, counter, ahead)) {
        next = firstUnused(call, broker, counter, ahead);
        ahead = next;
      }
    }
    return next;
  }

  private boolean isUsed(Call call, CounterBroker broker, FenceCounter counter, int generation) {
    return broker.exists(call, names.counter(counter, generation))
        || broker.exists(call, names.epoch(counter, generation));
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

  /** Deletes all counters before that generation, so that nobody draws from them any more. */
  private void deleteBefore(Call call, CounterBroker broker, FenceCounter counter, int next) {
    for (int generation = 1; generation < next; generation++) {
      broker.delete(call, names.counter(counter, generation));
    }
  }

  /** Brings the generation {@code next} into use. */
  private void announce(
      Call call, CounterBroker broker, FenceCounter counter, int newest, int next) {
    for (int generation = next; generation > newest; generation--) {
      broker.declareEpoch(call, names.epoch(counter, generation));
    }
  }

  /** Deletes the counters between the two generations. The new one is in use by now. */
  private void deleteSkipped(
      Call call, CounterBroker broker, FenceCounter counter, int newest, int next) {
    try {
      for (int generation = newest + 1; generation < next; generation++) {
        broker.delete(call, names.counter(counter, generation));
      }
    } catch (LockException e) {
      log.warn(
          "Queues before generation {} stay behind and can be deleted, of {}: {}",
          next,
          counter,
          e.getMessage());
    }
  }

  /**
   * What a counter says that may be lost. It is not read on the connection that has the turn,
   * because a quorum queue without a majority replies by closing the connection.
   */
  private Old old(Call call, Session session, String counter, Duration bound) {
    try {
      MessageReading reading = readUnlessEmpty(call.half().atMost(bound), session, counter);
      return CounterContent.parse(reading.content())
          .filter(this::isBelievable)
          .map(content -> FencingToken.epochOf(number(content, reading)))
          .map(epoch -> new Old(epoch, reading.returns()))
          .orElse(Old.UNKNOWN);
    } catch (LockException e) {
      log.warn("The old {} cannot be read any more: {}", counter, e.getMessage());
      return Old.UNKNOWN;
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
