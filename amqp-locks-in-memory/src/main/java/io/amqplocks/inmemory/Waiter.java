package io.amqplocks.inmemory;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A call that acquires a lease, and may have to wait for it.
 *
 * @param lock the lock
 * @param request what it wants
 * @param patience how long it waits
 * @param thread the name of the thread that called
 * @param number orders the waiters by their arrival
 * @param deadline when its time is over; {@link Time#NEVER} if it waits for as long as it takes
 * @param outcome the lease or the failure; completed outside the table's monitor
 */
record Waiter(
    LockId lock,
    Request request,
    Duration patience,
    String thread,
    long number,
    long deadline,
    CompletableFuture<InMemoryLease> outcome) {

  LockException timeout() {
    return new LockException.AcquireTimeout(
        "%s within %d ms, the time that this call would wait"
            .formatted(whatDidNotHappen(), TimeUnit.MILLISECONDS.convert(patience)));
  }

  private String whatDidNotHappen() {
    if (lock.kind().family() != Family.SEMAPHORE) {
      return "The %s did not come free".formatted(lock);
    }
    return request.permits() == 1
        ? "No slot of %s came free".formatted(lock)
        : "Fewer than %d slots of %s came free".formatted(request.permits(), lock);
  }
}
