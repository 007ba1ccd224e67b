package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.PublishingConnection;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.SlotQueues;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out plans, step by step, under the administration mutex of one semaphore. Each step waits for
 * its answer and is idempotent; before each the broker is asked whether the mutex still stands.
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
   * Of that semaphore.
   *
   * @param grown is told how many slots were added, for those who wait for one
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

  /** What to look for slots with. */
  PublishingConnection prober(Call call) {
    return sessions.current(call).prober();
  }

  /** Changes something as the only administrator. */
  <T> T underMutex(Function<Lease, T> change) {
    return adminMutex.during(change);
  }

  /** Slots that others made and that go with their node are no company for such as stay. */
  void requireDurable(int slot) {
    String queue = slots.slotQueue(slot);
    if (!sessions.current(call()).slots().isDurable(call(), queue)) {
      throw new LockException.Conflict(
          "No slots can be added to %s: others declared its queue %s as not durable, so it goes when the"
                  .formatted(lock, queue)
              + " broker is restarted; those added now would stay, and none of them would count. Let the same"
              + " clients add slots, or destroy the semaphore and create it anew");
    }
  }

  void carryOut(Lease mutex, SlotPlan plan) {
    SlotQueues queues = sessions.current(call()).slots();
    for (int slot : plan.delete()) {
      requireHeld(mutex);
      queues.delete(call(), slots.slotQueue(slot));
    }
    declare(mutex, queues, plan);
    if (!plan.declare().isEmpty()) {
      grown.accept(plan.declare().size());
    }
  }

  private void declare(Lease mutex, SlotQueues queues, SlotPlan plan) {
    Deque<Integer> declared = new ArrayDeque<>();
    try {
      for (int slot : plan.declare()) {
        requireHeld(mutex);
        declared.addLast(slot);
        queues.declare(call(), slots.slotQueue(slot));
      }
    } catch (LockException e) {
      // Without the mutex these are another administrator's by now; uncounted, they may stay.
      if (mutex.verify() == LeaseState.HELD) {
        declared.forEach(slot -> undo(queues, slot));
      }
      throw e;
    }
  }

  /** Leaves nothing behind where the broker lets us; what stays is not counted by anybody. */
  private void undo(SlotQueues queues, int slot) {
    try {
      queues.delete(call(), slots.slotQueue(slot));
    } catch (LockException e) {
      log.debug("{}: {} stays behind: {}", lock, slots.slotQueue(slot), e.getMessage());
    }
  }

  /** Asks the broker before each step: many steps take longer than a lease is certain without. */
  private void requireHeld(Lease mutex) {
    LeaseState state = mutex.verify();
    if (state != LeaseState.HELD) {
      throw new LockException.Unanswered(
          "The administration mutex of %s is %s half-way%s; run the same call again"
              .formatted(lock, state, mutex.lossReason().map(reason -> ", " + reason).orElse("")));
    }
  }
}
