package io.amqplocks.prover.run;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.run.Plan.Slots;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Frees the locks that may get stuck when nodes of a cluster lose each other, and no others: {@code
 * docs/GUARANTEES.md} does not promise that these come free by themselves.
 */
final class Operator {

  private static final Logger log = LoggerFactory.getLogger(Operator.class);

  /** What is stuck for so long is stuck until somebody frees it. */
  private static final Duration STUCK = Duration.ofSeconds(20);

  /** A release that is late comes before that. */
  private static final Duration LATE = Duration.ofSeconds(75);

  /** Nobody works any more, so a token that does not come has been lost. */
  private static final Duration REPAIR = Duration.ofSeconds(5);

  private final Broker broker;
  private final String prefix;
  private final AmqpLocks observer;

  Operator(Broker broker, String prefix, AmqpLocks observer) {
    this.broker = broker;
    this.prefix = prefix;
    this.observer = observer;
  }

  /** How long a lock should take to come free by itself; empty if it always has to. */
  Optional<Duration> patience(LockRef lock) {
    boolean before43 = !broker.version().isAtLeast(4, 3);
    return switch (lock.kind()) {
      // A queue may be registered for a connection that has ended.
      case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE, MUTEX -> Optional.of(STUCK);
      // A break in the middle of a release may leave a token with a consumer that is gone (trap
      // 24).
      case QUORUM_TOKENS -> before43 ? Optional.of(LATE) : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** Does for a lock that is stuck what {@code docs/OPERATIONS.md} says. */
  void free(Slots slots, LockException why) throws InterruptedException {
    log.warn("An operator frees the {}: {}", slots.lock(), why.getMessage());
    if (slots.lock().kind().isHeldByMessages()) {
      var unused =
          Round.patiently(
              LATE, () -> observer.admin().tokenSemaphore(slots.lock().name()).repair(REPAIR));
    } else {
      held(slots).forEach(this::delete);
    }
  }

  /** Ends the turn of an administrator of slots. Nobody may be at work. */
  void endTurn(LockRef semaphore) {
    delete(prefix + "semaphore." + semaphore.name() + ".admin");
  }

  private List<String> held(Slots slots) {
    String name = slots.lock().name();
    if (slots.lock().kind() != LockRef.Kind.SLOT_SEMAPHORE) {
      return List.of(prefix + "mutex." + name);
    }
    List<String> result = new ArrayList<>();
    for (int i = 1; i <= slots.count(); i++) {
      result.add(prefix + "semaphore." + name + ".holder." + i);
    }
    return result;
  }

  private void delete(String queue) {
    try {
      broker.faults().deleteQueue(queue);
    } catch (IllegalStateException gone) {
      log.debug("Queue {} is not to be deleted", queue, gone);
    }
  }
}
