package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.time.LogThrottle;
import io.amqplocks.spring.internal.time.Ticker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of calls of one method that run without one of their locks, because the broker is
 * unavailable. All are counted. They are logged at most every ten seconds, since in an outage there
 * are as many as there are calls.
 */
final class UnguardedRuns {

  private static final Logger log = LoggerFactory.getLogger(UnguardedRuns.class);
  private static final Duration LOG_EVERY = Duration.ofSeconds(10);

  private final String where;
  private final Consumer<LockId> listener;
  private final AtomicLong notLogged = new AtomicLong();
  private final LogThrottle throttle;

  /**
   * Tells of calls of a method.
   *
   * @param where the method, as messages name it
   * @param listener is called for each of them, with the lock
   */
  UnguardedRuns(String where, Consumer<LockId> listener, Ticker ticker) {
    this.where = where;
    this.listener = listener;
    throttle = new LogThrottle(LOG_EVERY, ticker);
  }

  void ran(LockRequest request, LockException outage) {
    listener.accept(request.handle().id());
    if (throttle.isDue()) {
      log.warn(
          "{} runs without the {}, as onUnavailable = RUN says; so did {} calls since the last such message: {}",
          where,
          request.name(),
          notLogged.getAndSet(0),
          outage.getMessage());
    } else {
      notLogged.incrementAndGet();
    }
  }
}
