package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.Call;
import java.time.Duration;

/**
 * The queues of mutexes that were busy a moment ago. Whoever tries again counts a queue's consumers
 * first. That takes one round trip, where a consumer that comes and goes takes four methods more,
 * and the queue tells the whole broker of it.
 *
 * <p>What is remembered is valid for a second only. So a queue that needs something, for instance a
 * message, or that is none of a mutex any more, is seen to all the same (ADR 87).
 *
 * <p>Concurrency: what is remembered is a guess that affects costs only. It may be outdated or
 * forgotten at any time.
 */
final class BusyMutexes {

  private static final long VALID = Duration.ofSeconds(1).toNanos();

  private final BoundedMap<String, Long> foundAt = new BoundedMap<>();

  /** Whether the mutex was busy within the last second. */
  boolean has(Call call, String queue) {
    Long when = foundAt.get(queue);
    return when != null && call.ticker().nanos() - when < VALID;
  }

  /** Remembers that a consumer was sent nothing. */
  void add(Call call, String queue) {
    foundAt.put(queue, call.ticker().nanos());
  }

  /** The mutex is probably free. */
  void remove(String queue) {
    foundAt.remove(queue);
  }
}
