package io.amqplocks.internal.slots;

import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.waiting.Backoff;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Changes and inspects one slot semaphore. {@link SlotPlan} determines the steps, and {@link
 * SlotChanges} carries them out.
 */
public final class SlotAdministration implements SlotSemaphoreAdmin {

  /** How far above the highest slot to look for holders of removed slots. */
  private static final int OVERSHOOT = 100;

  private final LockId lock;
  private final Slots slots;
  private final SlotChanges changes;

  /** Administers that semaphore. */
  public SlotAdministration(LockId lock, Slots slots, SlotChanges changes) {
    this.lock = lock;
    this.slots = slots;
    this.changes = changes;
  }

  @Override
  public void create(int wanted) {
    requireInRange(wanted, 1);
    change(
        present -> {
          if (present > 0 && present != wanted) {
            throw new LockException.Conflict(
                "There is a %s already, with %d slots and not %d; it stays as it is"
                    .formatted(lock, present, wanted));
          }
          return wanted;
        },
        DeleteOrder.DESCENDING);
  }

  @Override
  public int createIfAbsent(int wanted) {
    requireInRange(wanted, 1);
    int present = count();
    // Another process may have created it first, with another number of slots. That number stays.
    return present > 0
        ? present
        : change(found -> found > 0 ? found : wanted, DeleteOrder.DESCENDING).after();
  }

  @Override
  public SlotChange resize(int wanted, DeleteOrder order) {
    requireInRange(wanted, 0);
    return change(present -> wanted, order);
  }

  @Override
  public SlotChange add(int more) {
    requireInRange(more, 1);
    return change(
        present -> {
          requireInRange(present + more, 1);
          return present + more;
        },
        DeleteOrder.DESCENDING);
  }

  @Override
  public SlotChange remove(int fewer) {
    requireInRange(fewer, 1);
    return change(present -> Math.max(0, present - fewer), DeleteOrder.DESCENDING);
  }

  private SlotChange change(IntUnaryOperator wanted, DeleteOrder order) {
    return changes.underMutex(mutex -> change(mutex, wanted, order));
  }

  private SlotChange change(Lease mutex, IntUnaryOperator target, DeleteOrder order) {
    Call call = changes.call();
    AuxiliaryConnection prober = changes.prober(call);
    int present = slots.count(call, prober);
    int wanted = target.applyAsInt(present);
    if (wanted > present && present > 0) {
      changes.requireDurable(present);
    }
    Set<Integer> above = slots.presentAbove(Math.max(present, wanted), call, prober);
    changes.carryOut(mutex, SlotPlan.resize(present, wanted, above, order));
    return new SlotChange(present, wanted);
  }

  @Override
  public int count() {
    Call call = changes.call();
    return slots.count(call, changes.prober(call));
  }

  @Override
  public Set<Integer> holders() {
    Call call = changes.call();
    AuxiliaryConnection prober = changes.prober(call);
    int last = slots.count(call, prober) + OVERSHOOT;
    return slots.held(
        IntStream.rangeClosed(1, last).boxed().collect(Collectors.toCollection(TreeSet::new)),
        call,
        prober);
  }

  @Override
  public boolean awaitDrained(Set<Integer> removed, Duration wait) throws InterruptedException {
    Set<Integer> watched = new TreeSet<>(removed);
    return await(() -> held(watched).isEmpty(), wait);
  }

  @Override
  public boolean awaitTaken(int slot, Duration wait) throws InterruptedException {
    return await(() -> !held(Set.of(slot)).isEmpty(), wait);
  }

  private Set<Integer> held(Set<Integer> which) {
    Call call = changes.call();
    return which.isEmpty() ? which : slots.held(which, call, changes.prober(call));
  }

  /**
   * Polls, as the semaphore guideline does, because nothing notifies an administrator of a holder.
   */
  private boolean await(BooleanSupplier reached, Duration wait) throws InterruptedException {
    Ticker ticker = changes.call().ticker();
    long end = ticker.after(wait);
    Backoff backoff = new Backoff();
    while (!reached.getAsBoolean()) {
      long left = end - ticker.nanos();
      if (left <= 0) {
        return false;
      }
      TimeUnit.NANOSECONDS.sleep(Math.min(left, backoff.next()));
    }
    return true;
  }

  @Override
  public int prune(int overshoot) {
    requireInRange(overshoot, 1);
    return changes.underMutex(
        mutex -> {
          Call call = changes.call();
          AuxiliaryConnection prober = changes.prober(call);
          int present = slots.count(call, prober);
          Set<Integer> left = slots.present(present + 1, present + overshoot, call, prober);
          changes.carryOut(mutex, SlotPlan.resize(present, present, left, DeleteOrder.DESCENDING));
          return left.size();
        });
  }

  private void requireInRange(int number, int least) {
    if (number < least || number > MAX_SLOTS) {
      throw new LockException.Invalid(
          "A number of %d slots is not possible for %s; use %d to %d"
              .formatted(number, lock, least, MAX_SLOTS));
    }
  }
}
