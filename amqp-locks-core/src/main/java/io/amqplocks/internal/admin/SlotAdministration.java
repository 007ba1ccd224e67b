package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.SlotQueues;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.SemaphoreAdmin;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the slots of one semaphore, step by step under its administration mutex; what the steps are
 * is the {@link SlotPlan}'s business.
 */
public final class SlotAdministration implements SemaphoreAdmin {

  private static final Logger log = LoggerFactory.getLogger(SlotAdministration.class);

  /** How long one administrator waits for another. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final LockId lock;
  private final Slots slots;
  private final AmqpLock adminMutex;
  private final Sessions sessions;
  private final Duration callTimeout;
  private final Ticker ticker;

  /** Of that semaphore. */
  public SlotAdministration(
      LockId lock,
      Slots slots,
      AmqpLock adminMutex,
      Sessions sessions,
      Duration callTimeout,
      Ticker ticker) {
    this.lock = lock;
    this.slots = slots;
    this.adminMutex = adminMutex;
    this.sessions = sessions;
    this.callTimeout = callTimeout;
    this.ticker = ticker;
  }

  @Override
  public void create(int wanted) {
    requireInRange(wanted);
    underMutex(mutex -> create(mutex, wanted));
  }

  @Override
  public int createIfAbsent(int wanted) {
    requireInRange(wanted);
    int present = count();
    if (present > 0) {
      return present;
    }
    try {
      create(wanted);
      return wanted;
    } catch (LockException.Conflict e) {
      // Another process was faster, with another number: theirs counts.
      return count();
    }
  }

  @Override
  public int count() {
    Call call = call();
    return slots.count(call, sessions.current(call).prober());
  }

  private void create(Lease mutex, int wanted) {
    Call call = call();
    Session session = sessions.current(call);
    int present = slots.count(call, session.prober());
    int above = present > 0 ? 0 : slots.presentFrom(wanted + 1, call, session.prober());
    SlotPlan plan = SlotPlan.create(lock, present, wanted, above);
    for (int slot : plan.delete()) {
      requireHeld(mutex);
      session.slots().delete(call(), slots.slotQueue(slot));
    }
    declare(mutex, session.slots(), plan);
  }

  private void declare(Lease mutex, SlotQueues queues, SlotPlan plan) {
    Deque<Integer> declared = new ArrayDeque<>();
    try {
      for (int slot : plan.declare()) {
        requireHeld(mutex);
        declared.push(slot);
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

  private void underMutex(Consumer<Lease> change) {
    try (Lease mutex = adminMutex.acquire(PATIENCE)) {
      change.accept(mutex);
    } catch (LockException.AcquireTimeout e) {
      throw new LockException.AcquireTimeout(
          "Another administrator of %s is at work for more than %d s; try again later"
              .formatted(lock, PATIENCE.toSeconds()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer " + lock);
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

  private void requireInRange(int wanted) {
    if (wanted < 1 || wanted > MAX_SLOTS) {
      throw new LockException.Invalid(
          "A number of %d slots is not possible for %s; use 1 to %d"
              .formatted(wanted, lock, MAX_SLOTS));
    }
  }

  private Call call() {
    return Call.on(lock, callTimeout, ticker);
  }
}
