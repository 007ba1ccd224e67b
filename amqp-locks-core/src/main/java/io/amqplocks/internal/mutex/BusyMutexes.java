package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.Call;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The queues of mutexes that were busy a moment ago. Whoever tries again counts a queue's consumers
 * first. That takes one round trip. A whole try takes three or four. Its consumer also comes and
 * goes, and the queue announces both to the broker.
 *
 * <p>What is remembered is valid for a second only. So a whole try follows soon. It publishes a
 * message if the queue has none, and refuses a queue that is not a mutex's any more (ADR 87).
 *
 * <p>Concurrency: each change of an entry is atomic. A release of this session forgets the queue,
 * and a try that is under way then remembers nothing: the count could include the consumer that the
 * release has cancelled, and the thread that released would find busy what it has just given up.
 */
final class BusyMutexes {

  private static final long VALID = Duration.ofSeconds(1).toNanos();

  private final AtomicLong lastTime = new AtomicLong();
  private final BoundedMap<String, Found> times = new BoundedMap<>();

  /** Whether a try found the mutex busy within the last second, with no release since. */
  boolean has(Call call, String queue) {
    Found last = times.get(queue);
    return last != null && last.busyAt() != null && call.ticker().nanos() - last.busyAt() < VALID;
  }

  /** A whole try begins. Returns the number of the time since the last release. */
  long begin(String queue) {
    return times
        .compute(
            queue,
            (same, last) -> last == null ? new Found(lastTime.incrementAndGet(), null) : last)
        .number();
  }

  /** A try that began in that time found the mutex busy. */
  void end(Call call, String queue, long number) {
    long now = call.ticker().nanos();
    times.computeIfPresent(
        queue, (same, last) -> last.number() == number ? new Found(number, now) : last);
  }

  /** This session has asked the broker to end a consumer of the queue. */
  void forget(String queue) {
    times.remove(queue);
  }

  /**
   * The time since this session's last release of a mutex.
   *
   * @param number no other time has it
   * @param busyAt when a try last found the mutex busy; null if none has
   */
  private record Found(long number, @Nullable Long busyAt) {}
}
