package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.LockHandle;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock that one call wants, with the key that it has for it.
 *
 * <p>All calls in all processes acquire theirs in the order that is given here, so that no two can
 * each wait for what the other one has.
 *
 * @param guard what wants it
 * @param key the key, or empty
 * @param handle the lock
 */
record LockRequest(Guard guard, String key, LockHandle handle) {

  static final Comparator<LockRequest> ORDER =
      Comparator.<LockRequest, Boolean>comparing(
              request -> request.guard.lock().family() != Family.MUTEX)
          .thenComparing(LockRequest::fullName);

  boolean isSameLock(LockRequest other) {
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
        ? handle.tryAcquire().orElseThrow(this::busy)
        : handle.acquire();
  }

  private LockException busy() {
    LockException busy = new LockException.AcquireTimeout(name() + " is held by others");
    busy.initLock(handle.id());
    return busy;
  }

  /**
   * What follows from not having it for that reason: what the call does instead, or empty if it goes
   * on without it.
   *
   * @throws LockException that failure, if it is for the caller to hear of
   */
  Optional<MissedLock> without(LockException failure) {
    if (guard.throwsOn(failure)) {
      throw failure;
    }
    if (guard.runsOn(failure)) {
      requireNonNull(guard.unguarded()).ran(this, failure);
      return Optional.empty();
    }
    return Optional.of(new MissedLock(this, failure));
  }

  /** Acquires it without a thread that waits. */
  CompletableFuture<Lease> acquireAsync() {
    return handle.acquireAsync();
  }

  /** As it stands in messages. */
  String name() {
    return key.isEmpty() ? guard.lock().toString() : guard.lock() + " of the key '" + key + "'";
  }
}
