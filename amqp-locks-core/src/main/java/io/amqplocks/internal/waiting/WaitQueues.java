package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.lock.LockId;
import java.util.HashMap;
import java.util.List;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The wait queues of all locks that have waiters. A wait queue exists only while it has a waiter,
 * so lock names that are used once leave nothing behind.
 *
 * <p>Concurrency: a wait queue is joined and left within the map's atomic update of its key. So no
 * queue is dropped that somebody has just joined. The last waiter to leave cleans up what the queue
 * leaves behind.
 */
public final class WaitQueues {

  private static final Logger log = LoggerFactory.getLogger(WaitQueues.class);

  private final ConcurrentMap<Object, Queue> waitQueues = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongSupplier nanos;
  private final ScheduledExecutorService timer;
  private volatile boolean closed;

  /**
   * Creates an empty set of wait queues.
   *
   * @param nanos the time
   * @param timer schedules the alarms of the wait queues
   */
  public WaitQueues(LongSupplier nanos, ScheduledExecutorService timer) {
    this.nanos = nanos;
    this.timer = timer;
  }

  /**
   * The key of the wait queue of calls for several permits.
   *
   * @param lock the key of the wait queue of calls for one
   */
  record SeveralPermits(Object lock) {}

  private record Queue(WaitQueue waitQueue, FrontWaiter front, int length) {
    Queue longer() {
      return new Queue(waitQueue, front, length + 1);
    }
  }

  /**
   * A place in a wait queue.
   *
   * @param front asks the broker for the wait queue
   */
  record Ticket(Object key, WaitQueue waitQueue, WaitQueue.Place place, FrontWaiter front) {}

  /**
   * Takes a place in a wait queue.
   *
   * @param front creates what asks the broker for the wait queue, if there is no queue yet
   * @param signal as in {@link WaitQueue#join}
   */
  Ticket join(Object key, Variant variant, Supplier<FrontWaiter> front, @Nullable Runnable signal) {
    waiting.incrementAndGet();
    WaitQueue.Place[] place = new WaitQueue.Place[1];
    Queue queue =
        waitQueues.compute(
            key,
            (same, found) -> {
              Queue joined = found == null ? new Queue(newLine(), front.get(), 1) : found.longer();
              place[0] = joined.waitQueue.join(variant, signal);
              return joined;
            });
    return new Ticket(key, queue.waitQueue, place[0], queue.front);
  }

  private WaitQueue newLine() {
    WaitQueue waitQueue = new WaitQueue(nanos, this::later);
    if (closed) {
      waitQueue.close();
    }
    return waitQueue;
  }

  private void later(Runnable ring, long after) {
    try {
      var unused = timer.schedule(ring, after, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      // Closed, so nobody waits here any more.
      if (!closed) {
        throw e;
      }
    } catch (OutOfMemoryError e) {
      // No thread can be started, now at least. The timer has the task, and runs it when it can.
      log.warn("A waiter may ask the broker later than it should, for want of a thread", e);
    }
  }

  void leave(Ticket ticket) {
    List<BrokerGrant> slots = ticket.place.leave();
    boolean[] last = new boolean[1];
    waitQueues.computeIfPresent(
        ticket.key,
        (same, queue) -> {
          last[0] = queue.length == 1;
          return last[0] ? null : new Queue(queue.waitQueue, queue.front, queue.length - 1);
        });
    waiting.decrementAndGet();
    if (ticket.key instanceof SeveralPermits) {
      // What the caller had collected may be enough for the next one.
      ticket.waitQueue.released();
    }
    try {
      if (last[0]) {
        ticket.front.close();
      }
    } finally {
      slots.stream().filter(slot -> !offer(slot)).forEach(BrokerGrant::giveBack);
    }
  }

  /** Hands the slot to a waiter of this process. Returns false if there is none that can use it. */
  boolean offer(BrokerGrant slot) {
    Queue queue = waitQueues.get(slot.lock());
    return queue != null && queue.waitQueue.offer(slot);
  }

  /** Notifies the wait queues that a slot of that lock may have become free. */
  public void released(Object key) {
    signal(key);
    signal(new SeveralPermits(key));
  }

  private void signal(Object key) {
    Queue queue = waitQueues.get(key);
    if (queue != null) {
      queue.waitQueue.released();
    }
  }

  /**
   * Ends the waiting of all waiters, and of those who join later. From now on no slot is handed
   * over.
   */
  public void close() {
    closed = true;
    // A wait queue that is being created now is either in the map before this iteration, or created
    // by a thread that saw the flag.
    waitQueues.keySet().forEach(key -> waitQueues.computeIfPresent(key, WaitQueues::closed));
  }

  private static Queue closed(Object key, Queue queue) {
    queue.waitQueue.close();
    return queue;
  }

  /** The number of waiting calls for each lock of a user that has any. */
  public Map<LockId, Integer> waitingByLock() {
    Map<LockId, Integer> result = new HashMap<>();
    waitQueues.forEach(
        (key, queue) -> {
          Object lock = key instanceof SeveralPermits several ? several.lock : key;
          // The wait queues of administrators have keys of another type.
          if (lock instanceof LockId id) {
            result.merge(id, queue.length, Integer::sum);
          }
        });
    return result;
  }

  /** The number of waiting calls. */
  public int waiting() {
    return waiting.get();
  }
}
