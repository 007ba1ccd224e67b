package io.amqplocks.spring.internal.metrics;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import io.amqplocks.spring.internal.time.Ticker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many slots the semaphores of this application have, for readers that must not wait for the
 * broker. A reader gets the last number. If it is old, the broker is asked in the background. So a
 * resize by any process shows, and the broker is not asked for a number that nobody reads.
 *
 * <p>Concurrency: one thread at a time asks, by compare-and-set of {@code asking}. Whoever sets it
 * and cannot start that thread takes it back.
 */
final class SlotNumbers {

  private static final Logger log = LoggerFactory.getLogger(SlotNumbers.class);

  static final Executor BACKGROUND =
      question -> {
        Thread thread = new Thread(question, "amqp-locks slot numbers");
        thread.setDaemon(true);
        thread.start();
      };

  private final AmqpLocks locks;
  private final SemaphoreSetup setup;
  private final long longestNanos;
  private final Ticker ticker;
  private final Executor background;
  private final Map<LockId, Integer> numbers = new ConcurrentHashMap<>();
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile long askedAt;

  /** Numbers that are half a minute old at most, if they are read more often than that. */
  SlotNumbers(AmqpLocks locks, SemaphoreSetup setup) {
    this(locks, setup, Duration.ofSeconds(30), Ticker.SYSTEM, BACKGROUND);
  }

  SlotNumbers(
      AmqpLocks locks, SemaphoreSetup setup, Duration longest, Ticker ticker, Executor background) {
    this.locks = locks;
    this.setup = setup;
    longestNanos = longest.toNanos();
    this.ticker = ticker;
    this.background = background;
    askedAt = ticker.nanos() - longestNanos;
  }

  /** The number as last heard; empty if this application has not created or adopted it. */
  OptionalInt of(LockId id) {
    OptionalInt atSetup = setup.slots(id);
    if (atSetup.isEmpty()) {
      return atSetup;
    }
    Integer known = numbers.putIfAbsent(id, atSetup.getAsInt());
    boolean old = ticker.nanos() - askedAt >= longestNanos;
    // Without a session a question would only open one, or wait.
    if (old && locks.status().session() == Session.OPEN && asking.compareAndSet(false, true)) {
      askInBackground();
    }
    return known == null ? atSetup : OptionalInt.of(known);
  }

  private void askInBackground() {
    try {
      background.execute(this::ask);
    } catch (RuntimeException | OutOfMemoryError e) {
      // No thread can be started now. The next reader tries again.
      asking.set(false);
      log.warn(
          "The broker is not asked for numbers of slots now, since no thread starts: {}",
          e.toString());
    }
  }

  private void ask(LockId id) {
    try {
      int now = locks.status().session() == Session.OPEN ? locks.admin().semaphore(id).count() : -1;
      if (now >= 0) {
        numbers.put(id, now);
      }
    } catch (LockException.NotFound e) {
      numbers.put(id, 0);
    } catch (LockException e) {
      log.debug("How many slots the {} has is not known anew: {}", id, e.getMessage());
    }
  }

  private void ask() {
    try {
      List.copyOf(numbers.keySet()).forEach(this::ask);
    } finally {
      askedAt = ticker.nanos();
      asking.set(false);
    }
  }
}
