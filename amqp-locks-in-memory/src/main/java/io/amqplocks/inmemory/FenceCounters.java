package io.amqplocks.inmemory;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/** The counters of one lock's fencing tokens, by slots. The table's monitor guards them. */
final class FenceCounters {

  /** In minutes. No fence gives epochs that far ahead of the clock. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  /** The next token has that epoch and number. */
  private record Counter(long epoch, long next) {}

  private final Map<Integer, Counter> counters = new HashMap<>();

  FencingToken draw(int slot) {
    Counter counter = counters.getOrDefault(slot, new Counter(clockMinutes(), 0));
    FencingToken token = new FencingToken(slot, counter.epoch, counter.next);
    counters.put(slot, new Counter(counter.epoch, counter.next + 1));
    return token;
  }

  /** All later tokens of the slot are higher than all earlier ones, and than that number. */
  long renew(LockId lock, int slot, long number) {
    Counter last = counters.get(slot);
    long floor = Math.max(last == null ? 0 : last.epoch, FencingToken.epochOf(number));
    long epoch = Math.max(clockMinutes(), floor + 1);
    if (epoch > clockMinutes() + TEN_YEARS) {
      throw new LockException.FenceUnavailable(
          "The fence of slot %d of %s cannot be renewed above %d, which no fence gave: epoch %d is more"
                  .formatted(slot, lock, number, epoch)
              + " than ten years of minutes ahead of the clock");
    }
    counters.put(slot, new Counter(epoch, 0));
    return epoch;
  }

  /** The machine's time. The time of the locks may jump to where there are no epochs. */
  private static long clockMinutes() {
    return Instant.now().getEpochSecond() / 60;
  }
}
