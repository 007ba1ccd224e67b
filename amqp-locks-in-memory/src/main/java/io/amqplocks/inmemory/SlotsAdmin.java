package io.amqplocks.inmemory;

import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;

/** The administration of a slot semaphore. Each change is one step, whatever the order. */
record SlotsAdmin(Administered semaphore) implements SlotSemaphoreAdmin {

  @Override
  public void create(int slots) {
    semaphore.requireInRange(slots, 1);
    SlotChange unused =
        semaphore.setCount(
            present -> {
              if (present > 0 && present != slots) {
                throw new LockException.Conflict(
                    "There is a %s already, with %d slots and not %d; it stays as it is"
                        .formatted(semaphore.id(), present, slots));
              }
              return slots;
            });
  }

  @Override
  public int createIfAbsent(int slots) {
    semaphore.requireInRange(slots, 1);
    return semaphore.setCount(present -> present > 0 ? present : slots).after();
  }

  @Override
  public SlotChange resize(int slots, DeleteOrder order) {
    semaphore.requireInRange(slots, 0);
    return semaphore.setCount(present -> slots);
  }

  @Override
  public SlotChange add(int more) {
    semaphore.requireInRange(more, 1);
    return semaphore.setCount(
        present -> {
          semaphore.requireInRange(present + more, 1);
          return present + more;
        });
  }

  @Override
  public SlotChange remove(int fewer) {
    semaphore.requireInRange(fewer, 1);
    return semaphore.setCount(present -> Math.max(0, present - fewer));
  }

  @Override
  public int count() {
    return semaphore.withSlots(slots -> slots.count);
  }

  @Override
  public Set<Integer> holders() {
    return semaphore.withSlots(SlotSet::holders);
  }

  @Override
  public boolean awaitDrained(Set<Integer> removed, Duration wait) throws InterruptedException {
    Set<Integer> watched = new TreeSet<>(removed);
    return semaphore.await(slots -> Collections.disjoint(slots.holders(), watched), wait);
  }

  @Override
  public boolean awaitTaken(int slot, Duration wait) throws InterruptedException {
    return semaphore.await(slots -> slots.holders().contains(slot), wait);
  }

  /** Nothing is left behind in memory. */
  @Override
  public int prune(int overshoot) {
    semaphore.requireInRange(overshoot, 1);
    return 0;
  }
}
