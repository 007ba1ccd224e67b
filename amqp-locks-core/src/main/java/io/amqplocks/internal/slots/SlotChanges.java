package io.amqplocks.internal.slots;

import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.DurableQueues;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.AdminMutex;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out plans, step by step, under the administration mutex of one slot semaphore. Each step
 * is idempotent and waits for its reply. Before each step, the mutex is verified with the broker.
 */
public final class SlotChanges {

  private static final Logger log = LoggerFactory.getLogger(SlotChanges.class);

  private final LockId lock;
  private final Slots slots;
  private final AdminMutex adminMutex;
  private final Sessions sessions;
  private final Duration callTimeout;
  private final Ticker ticker;
  private final IntConsumer grown;

  /**
   * Changes that semaphore.
   *
   * @param grown receives the number of added slots, to notify waiters
   */
  public SlotChanges(
      LockId lock,
      Slots slots,
      AdminMutex adminMutex,
      Sessions sessions,
      Duration callTimeout,
      Ticker ticker,
      IntConsumer grown) {
    this.lock = lock;
    this.slots = slots;
    this.adminMutex = adminMutex;
    this.sessions = sessions;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
    this.grown = grown;
  }

  /** A call on this semaphore. */
  Call call() {
    return Call.on(lock, callTimeout, ticker);
  }

  /** The connection for probes. */
  AuxiliaryConnection prober(Call call) {
    return sessions.current(call).prober();
  }

  /** Runs the change as the only administrator. */
  <T> T underMutex(Function<Lease, T> change) {
    return adminMutex.during(change);
  }

  /**
   * Refuses to grow if other clients declared the existing slots as not durable. Those slots vanish
   * with their node, and the new ones would stay.
   */
  void requireDurable(int slot) {
    String queue = slots.slotQueue(slot);
    if (!sessions.current(call()).durableQueues().isDurable(call(), queue)) {
      throw new LockException.Conflict(
          "No slots can be added to %s: others declared its queue %s as not durable, so it goes when the"
                  .formatted(lock, queue)
              + " broker is restarted; those added now would stay, and none of them would count. Let the same"
              + " clients add slots, or destroy the semaphore and create it anew");
    }
  }

  void carryOut(Lease mutex, SlotPlan plan) {
    DurableQueues queues = sessions.current(call()).durableQueues();
    for (int slot : plan.delete()) {
      requireHeld(mutex);
      queues.delete(call(), slots.slotQueue(slot));
    }
    declare(mutex, queues, plan);
    if (!plan.declare().isEmpty()) {
      grown.accept(plan.declare().size());
    }
  }

  private void declare(Lease mutex, DurableQueues queues, SlotPlan plan) {
    Deque<Integer> declared = new ArrayDeque<>();
    try {
      for (int slot : plan.declare()) {
        requireHeld(mutex);
        declared.addLast(slot);
        queues.declare(call(), slots.slotQueue(slot));
      }
    } catch (LockException e) {
      undo(mutex, queues, declared, plan);
      throw e;
    }
  }

  /**
   * Deletes the slots of a failed change, the highest first. One call timeout bounds all of it,
   * because the caller waits for it. It ends where the broker does not answer. Slots that stay are
   * not counted.
   */
  private void undo(Lease mutex, DurableQueues queues, Deque<Integer> declared, SlotPlan plan) {
    Call call = call();
    NavigableSet<Integer> left = new TreeSet<>(declared);
    @Nullable String reason = null;
    for (int slot : declared) {
      LeaseState state = mutex.verify();
      if (state != LeaseState.HELD) {
        // From now on, these slots may belong to another administrator's change.
        reason = "the administration mutex is " + state;
        break;
      }
      try {
        queues.delete(call, slots.slotQueue(slot));
        left.remove(slot);
      } catch (LockException.Refused | LockException.Unexpected e) {
        // The queue may be another client's, and the cause of the failure. The others are ours.
        reason = e.getMessage();
      } catch (LockException e) {
        reason = e.getMessage();
        break;
      }
    }
    if (!left.isEmpty()) {
      int present = plan.declare().get(plan.declare().size() - 1) - 1;
      log.warn(
          "{}: {} slots from {} to {} of a change that failed stay behind: {}. They are not counted."
              + " Once the cause is gone, the same call makes use of them, or prune({}) deletes them",
          lock,
          left.size(),
          left.first(),
          left.last(),
          reason,
          left.last() - present);
    }
  }

  /**
   * Verifies the mutex before each step, because many steps take longer than a lease stays certain.
   */
  private void requireHeld(Lease mutex) {
    LeaseState state = mutex.verify();
    if (state != LeaseState.HELD) {
      throw new LockException.Unanswered(
          "The administration mutex of %s is %s half-way%s; run the same call again"
              .formatted(lock, state, mutex.lossReason().map(reason -> ", " + reason).orElse("")));
    }
  }
}
