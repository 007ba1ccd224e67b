package io.amqplocks.spring.guard;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.LockOperations;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that one call wants, with the key that it has for it.
 *
 * <p>All calls in all processes acquire theirs in the order that is given here, so that no two can
 * each wait for what the other one has.
 *
 * @param guard what wants it
 * @param key the key, or empty
 * @param operations the lock
 */
record Wanted(Guard guard, String key, LockOperations operations) {

  static final Comparator<Wanted> ORDER =
      Comparator.<Wanted, Boolean>comparing(wanted -> wanted.guard.lock().kind() != LockKind.MUTEX)
          .thenComparing(Wanted::fullName);

  boolean isSameLock(Wanted other) {
    return ORDER.compare(this, other) == 0;
  }

  private String fullName() {
    String name = guard.lock().name().value();
    return key.isEmpty() ? name : name + ":" + key;
  }

  /**
   * Acquires it.
   *
   * @throws LockException.AcquireTimeout if it is busy
   */
  Lease acquire() {
    return guard.maxWait().isZero()
        ? operations
            .tryAcquire()
            .orElseThrow(() -> new LockException.AcquireTimeout(name() + " is held by others"))
        : operations.acquire();
  }

  /** The same without a thread that waits. */
  CompletableFuture<Lease> acquireAsync() {
    return operations.acquireAsync();
  }

  /** As it stands in messages. */
  String name() {
    return key.isEmpty() ? guard.lock().toString() : guard.lock() + " of the key '" + key + "'";
  }
}
