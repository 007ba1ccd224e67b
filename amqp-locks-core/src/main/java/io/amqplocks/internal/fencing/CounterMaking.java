package io.amqplocks.internal.fencing;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.CounterReading;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the counters of slots, one generation after the other: try out what the broker does with such
 * a queue; make the new counter; delete the old one; declare the epoch queue of the new one.
 *
 * <p>Until that last step nobody reads the new counter, and since the step before nobody can read the
 * old one: so each token of the new one is drawn after each of the old one. A maker that dies on the
 * way leaves at worst no counter, never two. One that finds a counter without its epoch queue, left by
 * such a maker, does not touch what is in it but goes on to the next generation: nobody can say
 * whether it was filled, and a name is never used twice (trap 11).
 */
public final class CounterMaking {

  private static final Logger log = LoggerFactory.getLogger(CounterMaking.class);

  private static final int MAX_GENERATION = 999;
  private static final long PAUSE_NANOS = 20_000_000;

  /** In minutes. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  private final QueueNames names;
  private final Clock clock;

  /** Of the locks with such names; epochs follow that clock. */
  public CounterMaking(QueueNames names, Clock clock) {
    this.names = names;
    this.clock = clock;
  }

  /** Makes the first counter ever of the slot, unless another is faster; returns which is in use. */
  int begin(Call call, Session session, LockId lock, int slot) {
    try (CounterKeeper keeper = session.counters().administrate(call)) {
      while (true) {
        boolean taken = keeper.take(call, names.counterAdmin(lock, slot));
        int newest = newest(call, keeper, lock, slot);
        if (newest > 0) {
          return newest;
        }
        if (taken) {
          tryOut(call, keeper, lock);
          return make(call, keeper, lock, slot, 0, 0).generation();
        }
        awaitTurn(call, slot);
      }
    }
  }

  /** Replaces the counter by a new one of an epoch above that one, and above the old one's. */
  long renew(Call call, Session session, LockId lock, int slot, long aboveEpoch) {
    try (CounterKeeper keeper = session.counters().administrate(call)) {
      while (!keeper.take(call, names.counterAdmin(lock, slot))) {
        awaitTurn(call, slot);
      }
      int newest = newest(call, keeper, lock, slot);
      tryOut(call, keeper, lock);
      long above = aboveEpoch;
      if (newest > 0) {
        above = Math.max(above, epoch(call, session, names.counter(lock, slot, newest)));
      }
      Made made = make(call, keeper, lock, slot, newest, above);
      log.info("The fence of slot {} of {} was renewed with epoch {}", slot, lock, made.epoch());
      return made.epoch();
    }
  }

  /**
   * Whether a maker may have written that. Who makes one takes the clock, or one more than the last; what is
   * ten years ahead of the clock was published by somebody else, and would be followed by higher ones for ever.
   */
  boolean isBelievable(CounterContent content) {
    return content.isInRange()
        && content.epoch() <= clock.instant().getEpochSecond() / 60 + TEN_YEARS;
  }

  private void tryOut(Call call, CounterKeeper keeper, LockId lock) {
    CounterTrial.run(() -> call, keeper, random -> names.counterTrial(lock, random));
  }

  private record Made(int generation, long epoch) {}

  private Made make(
      Call call, CounterKeeper keeper, LockId lock, int slot, int newest, long aboveEpoch) {
    int next = newest + 1;
    while (keeper.exists(call, names.counter(lock, slot, next))) {
      // First the epoch: if that is there and only its node is down, this fails and nothing is
      // lost.
      keeper.declareEpoch(call, names.epoch(lock, slot, next));
      keeper.delete(call, names.counter(lock, slot, next));
      next++;
    }
    // With the generation in it the epoch rises even if the clock does not.
    long epoch = Math.max(clock.instant().getEpochSecond() / 60 + next, aboveEpoch + 1);
    CounterContent content = new CounterContent(epoch, keeper.brokerMajor());
    if (next > MAX_GENERATION || !isBelievable(content)) {
      throw new LockException.FenceUnavailable(
          "The fence of slot %d of %s was renewed too often, or to be above a number that no fence gave:"
                  .formatted(slot, lock)
              + " generation %d, epoch %d, which may be ten years of minutes ahead of the clock"
                  .formatted(next, epoch));
    }
    String counter = names.counter(lock, slot, next);
    keeper.make(call, counter, content.toString());
    CounterTrial.require(call, counter, keeper.read(call, counter), 0);
    if (newest > 0) {
      keeper.delete(call, names.counter(lock, slot, newest));
    }
    keeper.declareEpoch(call, names.epoch(lock, slot, next));
    return new Made(next, epoch);
  }

  /**
   * The epoch of a counter that may be lost. Not read by the keeper: a quorum queue without a majority
   * answers by closing the connection, and that must not be the one that has the turn.
   */
  private long epoch(Call call, Session session, String counter) {
    try {
      CounterReading reading = session.counters().read(call.half(), counter);
      return CounterContent.parse(reading.content())
          .filter(this::isBelievable)
          .map(CounterContent::epoch)
          .orElse(0L);
    } catch (LockException e) {
      log.warn("The old {} cannot be read any more: {}", counter, e.getMessage());
      return 0;
    }
  }

  private int newest(Call call, CounterKeeper keeper, LockId lock, int slot) {
    int newest = 0;
    while (keeper.exists(call, names.epoch(lock, slot, newest + 1))) {
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
