package io.amqplocks.inmemory;

import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A lock under administration: each call is one change of the table.
 *
 * @param id the lock
 * @param table has its slots
 */
record Administered(LockId id, LockTable table) {

  private static final int LOOK_AGAIN_MS = 5;

  static UnsupportedOperationException unsupported(String method) {
    return new UnsupportedOperationException(
        method + " is not possible: locks in memory have no queues, messages or counters of keys");
  }

  /** Looks at the lock, or changes something that no waiter waits for. */
  <T> T with(Function<LockState, T> step) {
    return table.change(
        effects -> {
          table.connection().require(id);
          return step.apply(table.of(id));
        });
  }

  /** As above, for a lock that has slots. */
  <T> T withSlots(Function<SlotSet, T> step) {
    return with(lock -> step.apply(table.slots(id)));
  }

  /** Sets the number of slots. Waiters get new ones, or learn that there are none any more. */
  SlotChange setCount(IntUnaryOperator wanted) {
    return setCount(wanted, null);
  }

  /** As above. For that reason, if there is one, all holders lose their leases in the same step. */
  SlotChange setCount(IntUnaryOperator wanted, @Nullable LossReason forHolders) {
    return table.change(
        effects -> {
          table.connection().require(id);
          SlotSet slots = table.slots(id);
          int before = slots.count;
          int after = wanted.applyAsInt(before);
          slots.count = after;
          if (after == 0) {
            slots.destroy();
          }
          if (forHolders != null) {
            int unused = table.loseAll(id, forHolders, effects);
          }
          table.serve(id, effects);
          return new SlotChange(before, after);
        });
  }

  /** Waits, in real time, until that is so. */
  boolean await(Predicate<SlotSet> reached, Duration wait) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(wait);
    while (!withSlots(reached::test)) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
    }
    return true;
  }

  void requireInRange(int number, int least) {
    if (number < least || number > SemaphoreAdmin.MAX_SLOTS) {
      throw new LockException.Invalid(
          "A number of %d slots is not possible for %s; use %d to %d"
              .formatted(number, id, least, SemaphoreAdmin.MAX_SLOTS));
    }
  }
}
