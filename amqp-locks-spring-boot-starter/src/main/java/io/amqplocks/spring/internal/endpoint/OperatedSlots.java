package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** A slot semaphore. Slots that others hold can be named, but not taken back here. */
final class OperatedSlots extends OperatedLock {

  private final SlotSemaphoreAdmin semaphore;

  OperatedSlots(AmqpLocks locks, LockId id, SlotSemaphoreAdmin semaphore) {
    super(locks, id);
    this.semaphore = semaphore;
  }

  @Override
  BrokerDescriptor describe() {
    int slots = semaphore.count();
    Set<Integer> held = semaphore.holders();
    int inUse = held.size();
    int used = (int) held.stream().filter(slot -> slot <= slots).count();
    int withdrawn = inUse - used;
    return new BrokerDescriptor(
        slots > 0,
        slots,
        inUse,
        Math.max(0, slots - used),
        held,
        withdrawn == 0 ? null : withdrawn,
        null,
        null);
  }

  @Override
  Done resize(int slots) {
    SlotChange change = semaphore.resize(slots);
    return resized(
        change,
        change.removed().isEmpty()
            ? null
            : "Holders of the removed slots keep them until their next verification.");
  }

  @Override
  Done release(String why, Duration timeout) {
    Supplier<Set<Integer>> heldByOthers = asked(this::heldByOthers);
    int revoked = revoke(why);
    return PartialChangeException.unless(
        revoked,
        () -> {
          Set<Integer> others = heldByOthers.get();
          if (others.isEmpty() || revoked > 0) {
            return released(revoked, 0, others.isEmpty() ? null : remedy(others));
          }
          throw onlyByItsOwner(others);
        });
  }

  private Set<Integer> heldByOthers() {
    Set<Integer> here = new HashSet<>(slotsHere());
    Set<Integer> others = new TreeSet<>(semaphore.holders());
    // Twice, for the lease that was acquired between.
    here.addAll(slotsHere());
    others.removeAll(here);
    return others;
  }
}
