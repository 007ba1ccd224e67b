package io.amqplocks.inmemory;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Who holds a lock, and who waits for it. The table's monitor guards all of it. A read lock and the
 * write lock of the same name have one state. So their waiters stand in one line.
 */
abstract sealed class LockState permits SlotSet, Sides {

  /**
   * What a lease has.
   *
   * @param slots its slots, lowest first
   * @param tokens a fencing token for each, or none
   * @param generation which creation of the lock they belong to
   */
  record Grant(List<Integer> slots, List<FencingToken> tokens, int generation) {}

  /** By priority, highest first, and then by arrival. */
  final TreeSet<Waiter> waiters =
      new TreeSet<>(
          Comparator.comparingInt((Waiter waiter) -> waiter.request().priority())
              .reversed()
              .thenComparingLong(Waiter::number));

  final FenceCounters fences = new FenceCounters();

  /** The state of that lock before its first use. */
  static LockState of(LockId lock) {
    return switch (lock.kind()) {
      case MUTEX, EXCLUSIVE_QUEUE_MUTEX -> new SlotSet(lock, 1);
      case FENCED_MUTEX, PERSISTENT_MUTEX, SLOT_SEMAPHORE, TOKEN_SEMAPHORE -> new SlotSet(lock, 0);
      case READ_LOCK, WRITE_LOCK -> new Sides();
    };
  }

  /** Throws if no lease can be acquired that way, however long the call waits. */
  abstract void requirePossible(Request request);

  /** Chooses what is free, and draws its fencing tokens. Empty if it is too little. */
  abstract Optional<Grant> choose(LockId lock, Request request);

  abstract void hold(InMemoryLease lease);

  abstract void free(InMemoryLease lease);

  /** Whether what the lease holds does not exist any more. */
  abstract boolean isGone(InMemoryLease lease);

  /**
   * Adds holders that have no lease, as a test does by {@link InMemoryLocks#busy}; removes them if
   * the number is negative.
   */
  abstract void occupy(LockId lock, int more);

  /**
   * How many slots are held, or how many leases if there are no slots. Holders without a lease
   * count too.
   */
  abstract int inUse();

  abstract int mostHeldAtOnce(LockId lock);
}
