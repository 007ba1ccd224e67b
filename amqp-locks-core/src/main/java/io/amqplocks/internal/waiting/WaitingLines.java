package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldSlot;
import io.amqplocks.internal.waiting.QueuedLock.Variant;
import io.amqplocks.lock.LockId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The lines of all locks that anybody waits for. A line exists while somebody stands in it, so locks
 * with ever new names leave nothing behind.
 *
 * <p>Concurrency: joining and leaving a line happen within the map's atomic update of its key, so no
 * line is dropped that somebody has just joined. What the last one leaves behind, it tidies up.
 */
public final class WaitingLines {

  private final ConcurrentMap<Object, Queue> lines = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongSupplier nanos;
  private final ScheduledExecutorService timer;
  private volatile boolean closed;

  /** No lines, in that time, which that timer keeps. */
  public WaitingLines(LongSupplier nanos, ScheduledExecutorService timer) {
    this.nanos = nanos;
    this.timer = timer;
  }

  private record Queue(WaitingLine line, Head head, int length) {
    Queue longer() {
      return new Queue(line, head, length + 1);
    }
  }

  /**
   * A place in a line.
   *
   * @param head what the line asks the broker by
   */
  record Ticket(Object key, WaitingLine line, WaitingLine.Place place, Head head) {}

  /**
   * Takes a place.
   *
   * @param head makes what the line is to ask the broker by, if there is no line yet
   * @param signal as in {@link WaitingLine#join}
   */
  Ticket join(Object key, Variant variant, Supplier<Head> head, @Nullable Runnable signal) {
    waiting.incrementAndGet();
    WaitingLine.Place[] place = new WaitingLine.Place[1];
    Queue queue =
        lines.compute(
            key,
            (same, found) -> {
              Queue joined = found == null ? new Queue(newLine(), head.get(), 1) : found.longer();
              place[0] = joined.line.join(variant.priority(), !variant.fenced(), signal);
              return joined;
            });
    return new Ticket(key, queue.line, place[0], queue.head);
  }

  private WaitingLine newLine() {
    WaitingLine line = new WaitingLine(nanos, this::later);
    if (closed) {
      line.close();
    }
    return line;
  }

  private void later(Runnable ring, long after) {
    try {
      var unused = timer.schedule(ring, after, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed, so that nobody waits here any more.
      if (!closed) {
        throw e;
      }
    }
  }

  void leave(Ticket ticket) {
    HeldSlot handed = ticket.place.leave();
    boolean[] last = new boolean[1];
    lines.computeIfPresent(
        ticket.key,
        (same, queue) -> {
          last[0] = queue.length == 1;
          return last[0] ? null : new Queue(queue.line, queue.head, queue.length - 1);
        });
    waiting.decrementAndGet();
    if (last[0]) {
      ticket.head.close();
    }
    if (handed != null && !offer(handed)) {
      handed.giveBack();
    }
  }

  /** Whether nobody waits for that lock. */
  boolean isEmpty(Object key) {
    return !lines.containsKey(key);
  }

  /** Hands the slot to one who waits here; false if there is nobody. */
  boolean offer(HeldSlot slot) {
    Queue queue = lines.get(slot.lock());
    return queue != null && queue.line.offer(slot);
  }

  /** A slot of that lock may have come free. */
  public void released(Object key) {
    Queue queue = lines.get(key);
    if (queue != null) {
      queue.line.released();
    }
  }

  /** Sends everybody away, also who comes later; from now on no slot is handed over. */
  public void close() {
    closed = true;
    // A line that is being made now is in the map before this looks, or made by one who saw the
    // flag.
    lines.keySet().forEach(key -> lines.computeIfPresent(key, WaitingLines::closed));
  }

  private static Queue closed(Object key, Queue queue) {
    queue.line.close();
    return queue;
  }

  /** How many calls wait for each lock that anybody of our users waits for. */
  public Map<LockId, Integer> waitingByLock() {
    Map<LockId, Integer> result = new HashMap<>();
    lines.forEach(
        (key, queue) -> {
          // The lines of administrators have keys of another kind.
          if (key instanceof LockId lock) {
            result.put(lock, queue.length);
          }
        });
    return result;
  }

  /** How many calls wait. */
  public int waiting() {
    return waiting.get();
  }
}
