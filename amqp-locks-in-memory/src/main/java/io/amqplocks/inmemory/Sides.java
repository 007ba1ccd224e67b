package io.amqplocks.inmemory;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The readers and the writers of one read-write lock. Every lease has slot 1, and the tokens of
 * both sides are of one counter.
 */
final class Sides extends LockState {

  private static final int SLOT = 1;

  private final Side readers = new Side();
  private final Side writers = new Side();

  private Side side(LockId lock) {
    return lock.kind() == LockKind.READ_LOCK ? readers : writers;
  }

  @Override
  void requirePossible(Request request) {
    // The lock needs no creating.
  }

  /** Admits a reader beside readers, and a writer beside nobody. */
  @Override
  Optional<Grant> choose(LockId lock, Request request) {
    boolean reads = lock.kind() == LockKind.READ_LOCK;
    if (writers.holders() > 0 || (!reads && readers.holders() > 0)) {
      return Optional.empty();
    }
    return Optional.of(
        new Grant(List.of(SLOT), request.fenced() ? List.of(fences.draw(SLOT)) : List.of(), 0));
  }

  @Override
  void hold(InMemoryLease lease) {
    side(lease.lock()).hold(lease);
  }

  @Override
  void free(InMemoryLease lease) {
    side(lease.lock()).held.remove(lease);
  }

  /** Nobody can remove the lock. */
  @Override
  boolean isGone(InMemoryLease lease) {
    return false;
  }

  @Override
  void occupy(LockId lock, int more) {
    side(lock).strangers += more;
  }

  /** A stranger of one side does not hold the lock yet while the other side does. */
  @Override
  int inUse() {
    if (!writers.held.isEmpty()) {
      return 1;
    }
    return readers.holders() > 0 ? readers.holders() : Math.min(1, writers.strangers);
  }

  @Override
  int mostHeldAtOnce(LockId lock) {
    return side(lock).most;
  }

  /** The holders of one side. */
  private static final class Side {
    private final Set<InMemoryLease> held = new HashSet<>();

    /** Holders without a lease, as {@link Sides#occupy} adds them. */
    private int strangers;

    private int most;

    int holders() {
      return held.size() + strangers;
    }

    void hold(InMemoryLease lease) {
      held.add(lease);
      most = Math.max(most, held.size());
    }
  }
}
