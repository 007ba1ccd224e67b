package io.amqplocks.internal.probe;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.topology.QueueNames;
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
 * Looks once in each session whether the broker does what the locks rely on, and warns if not. It tries
 * on a canary: a queue of its own, declared as a holder's is and named as a slot's, so that policies
 * and permissions for the locks concern it too; the broker deletes it with the session at the latest.
 * It is tried when the session looks for slots for the first time, in the background: nobody waits for
 * it, and a process that has mutexes only needs none of it. Why it warns and does not refuse: ADR 13.
 *
 * <p>Concurrency: no state; a check runs on one background thread at a time.
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

  /** Checks what that probe says of queues of those names. */
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

  /** Begins with a session that was just opened. Does not block. */
  public void begin(Session session) {
    log.info("Session with {} opened", session.server());
    session.server().concern().ifPresent(log::warn);
    var unused =
        session.prober().opened().thenRunAsync(() -> look(session).forEach(log::warn), background);
  }

  /** What is not as it should be; nothing as well if that cannot be told now. */
  List<String> look(Session session) {
    LockId canary = LockId.semaphore("self-check-" + UUID.randomUUID().toString().substring(0, 8));
    String queue = names.slot(canary.name(), 1);
    try {
      if (!session.holders().take(call(canary), queue)) {
        return List.of("RabbitMQ says that the new queue %s is another's".formatted(queue));
      }
    } catch (LockException.Refused e) {
      // No wonder where the permissions are for certain locks only.
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
      session.holders().release(call(canary), queue);
    }
  }

  private List<String> look(Session session, LockId canary, String queue) {
    String absent = names.slot(canary.name(), 2);
    List<Presence> answers = ask(session, canary, List.of(queue, absent));
    for (int i = 1; i < LOOKS && answers.get(0) == Presence.ABSENT; i++) {
      // In a cluster the news of a queue may need a moment from node to node.
      LockSupport.parkNanos(PAUSE.toNanos());
      answers = ask(session, canary, List.of(queue, absent));
    }
    List<String> found = new ArrayList<>();
    if (!session.prober().blocked().isDone()) {
      found.addAll(findings(queue, answers.get(0), absent, answers.get(1)));
    }
    // Last, because slots have no consumer. It needs the permission that holders need.
    if (!session.revocations().watch(call(canary), queue, () -> {})) {
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
