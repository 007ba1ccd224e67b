package io.amqplocks.internal.exclusive;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.function.Function;

/**
 * Lets one administrator of a lock at a time make a change.
 *
 * @param lock the administered lock
 * @param mutex its administration mutex
 */
public record AdminMutex(LockId lock, AmqpLock mutex) {

  /** How long one administrator waits for another. */
  private static final Duration ACQUIRE_TIMEOUT = Duration.ofSeconds(30);

  /** Runs the change as the only administrator. */
  public <T> T during(Function<Lease, T> change) {
    try (Lease held = mutex.acquire(ACQUIRE_TIMEOUT)) {
      return change.apply(held);
    } catch (LockException.AcquireTimeout e) {
      throw new LockException.AcquireTimeout(
          "Another administrator of %s is at work for more than %d s; try again later"
              .formatted(lock, ACQUIRE_TIMEOUT.toSeconds()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer " + lock);
    }
  }
}
