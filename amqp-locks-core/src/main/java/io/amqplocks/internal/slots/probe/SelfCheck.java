package io.amqplocks.internal.slots.probe;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.ExclusiveQueues;
import io.amqplocks.internal.exclusive.QueueDeletionWatch;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks once in each session whether the broker does what the locks rely on, and warns if not. ADR
 * 13 says why it warns and does not refuse.
 *
 * <p>The check uses a queue of its own. That queue is declared like a holder's and named like a
 * slot's, so that policies and permissions for the locks apply to it too. The broker deletes it at
 * the latest with the session. The check runs in the background when the session looks for slots
 * for the first time. Nobody waits for it, and a process that only has mutexes does not need it.
 *
 * <p>Concurrency: the class has no state. A check runs on one background thread at a time.
 */
public final class SelfCheck {

  private static final Logger log = LoggerFactory.getLogger(SelfCheck.class);

  private static final int LOOKS = 5;
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final ExistenceProbe probe;
  private final QueueNames names;
  private final Duration callTimeout;
  private final Ticker ticker;
  private final Executor background;

  /** Checks what the given probe finds out about queues with the given names. */
  public SelfCheck(
      ExistenceProbe probe,
      QueueNames names,
      Duration callTimeout,
      Ticker ticker,
      Executor background) {
    this.probe = probe;
    this.names = names;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.background = background;
  }

  /** Prepares the check for a session that was just opened. Does not block. */
  public void begin(Session session) {
    log.info("Session with {} opened", session.broker());
    session.broker().concern().ifPresent(log::warn);
    var unused =
        session.prober().used().thenRunAsync(() -> look(session).forEach(log::warn), background);
  }

  /** The findings; empty if there are none, or if the check is not possible now. */
  List<String> look(Session session) {
    LockId canary =
        LockId.slotSemaphore("self-check-" + UUID.randomUUID().toString().substring(0, 8));
    String queue = names.slot(canary.name(), 1);
    try {
      if (!ExclusiveQueues.of(session).take(call(canary), queue)) {
        return List.of("RabbitMQ says that the new queue %s is another's".formatted(queue));
      }
    } catch (LockException.Refused e) {
      // This is normal if the permissions cover certain locks only.
      log.info("No self-check of the locks: {}", e.getMessage());
      return List.of();
    } catch (LockException e) {
      log.debug("No self-check of the locks: {}", e.getMessage());
      return List.of();
    }
    try {
      return look(session, canary, queue);
    } catch (LockException.Refused e) {
      return List.of("Semaphores will not work: " + e.getMessage());
    } catch (LockException e) {
      log.debug("No self-check of the locks: {}", e.getMessage());
      return List.of();
    } finally {
      ExclusiveQueues.of(session).release(call(canary), queue);
    }
  }

  private List<String> look(Session session, LockId canary, String queue) {
    String absent = names.slot(canary.name(), 2);
    List<Presence> answers = ask(session, canary, List.of(queue, absent));
    for (int i = 1; i < LOOKS && answers.get(0) == Presence.ABSENT; i++) {
      // In a cluster it may take a moment until all nodes know of a queue.
      LockSupport.parkNanos(PAUSE.toNanos());
      answers = ask(session, canary, List.of(queue, absent));
    }
    List<String> found = new ArrayList<>();
    if (!session.prober().blocked().isDone()) {
      found.addAll(findings(queue, answers.get(0), absent, answers.get(1)));
    }
    // This comes last, because slots have no consumer. It needs the permission that holders need.
    if (!QueueDeletionWatch.of(session).watch(call(canary), queue, () -> {})) {
      found.add(
          "Queue %s of this process was gone at once; look for a policy with 'expires'"
              .formatted(queue));
    }
    return found;
  }

  private static List<String> findings(
      String queue, Presence queueIs, String absent, Presence absentIs) {
    List<String> found = new ArrayList<>();
    if (queueIs == Presence.ABSENT) {
      found.add(
          "Probes do not see queue %s, which this process has declared; do all addresses lead to the"
                  .formatted(queue)
              + " same broker?");
    }
    if (queueIs == Presence.UNKNOWN || absentIs == Presence.UNKNOWN) {
      found.add(
          "RabbitMQ gave no certain answer to a probe of queue %s; if semaphores find no slots, look"
                  .formatted(queue)
              + " for a policy with 'reject-publish' on such names");
    }
    if (absentIs == Presence.PRESENT) {
      found.add(
          "RabbitMQ says that queue %s is there, which nobody declared; semaphores will seem full"
              .formatted(absent));
    }
    return found;
  }

  private List<Presence> ask(Session session, LockId canary, List<String> queues) {
    return probe.probe(call(canary), session.prober(), queues);
  }

  private Call call(LockId canary) {
    return Call.on(canary, callTimeout, ticker);
  }
}
