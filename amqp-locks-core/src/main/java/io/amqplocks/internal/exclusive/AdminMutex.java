package io.amqplocks.internal.exclusive;

import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.function.Function;

/**
 * Lets one administrator of a lock at a time make a change. The turn is a lease of a mutex, because
 * the change is made on connections that others use too. Such a turn can be lost while those
 * connections live, so the change is given the lease to verify. Administrators of tokens and
 * counters need no lease: their turn belongs to the one connection that they work on ({@link
 * TurnWait}).
 *
 * @param lock the administered lock
 * @param mutex its administration mutex
 */
public record AdminMutex(LockId lock, AmqpLock mutex) {

  /** Runs the change as the only administrator. */
  public <T> T during(Function<Lease, T> change) {
    try (Lease held = mutex.acquire(TurnWait.TIMEOUT)) {
      return change.apply(held);
    } catch (LockException.AcquireTimeout e) {
      throw new LockException.AcquireTimeout(
          "Another administrator of %s is at work for more than %d s; try again later"
              .formatted(lock, TurnWait.TIMEOUT.toSeconds()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer " + lock);
    }
  }
}
