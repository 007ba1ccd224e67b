package io.amqplocks.spring;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Arrays;
import java.util.function.IntSupplier;

/**
 * An administrator elsewhere that is at work on a semaphore for so long that it could not be created.
 * That must not pass for the semaphore being busy, upon which a caller may skip its work.
 */
final class BusyAdministrator {

  private BusyAdministrator() {}

  /**
   * Does that, which waits for administrators.
   *
   * @throws LockException.Unanswered if it waited for too long
   */
  static int awaited(LockId id, IntSupplier administering) {
    try {
      return administering.getAsInt();
    } catch (LockException.AcquireTimeout e) {
      LockException.Unanswered broken =
          new LockException.Unanswered(
              "The %s could not be created, since an administrator works on it elsewhere: %s. The next call tries again"
                  .formatted(id, e.getMessage()));
      broken.addSuppressed(e);
      throw broken;
    }
  }

  /** Whether it is what such an exception is about. */
  static boolean isCauseOf(LockException failure) {
    return Arrays.stream(failure.getSuppressed())
        .anyMatch(LockException.AcquireTimeout.class::isInstance);
  }
}
