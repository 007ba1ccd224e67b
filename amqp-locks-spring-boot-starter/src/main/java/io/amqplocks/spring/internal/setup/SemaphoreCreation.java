package io.amqplocks.spring.internal.setup;

import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.internal.catalog.SemaphoreSettings;
import java.util.Arrays;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates one semaphore at the broker, unless it exists. If it exists with another number of slots,
 * does what {@link OnMismatch} says.
 *
 * <p>Another administrator may work on the semaphore for so long that it cannot be created. That
 * must not pass for a busy semaphore, since a caller may skip its work then.
 */
final class SemaphoreCreation {

  private static final Logger log = LoggerFactory.getLogger(SemaphoreCreation.class);

  private final LockAdmin admin;
  private final KeyCountWarning keys = new KeyCountWarning();

  SemaphoreCreation(LockAdmin admin) {
    this.admin = admin;
  }

  /**
   * Creates or adopts the semaphore.
   *
   * @param settled whether this process has looked at its number of slots before, which is now
   *     another's to change
   * @return how many slots it has now
   * @throws LockConfigurationException if another number of slots is a failure
   * @throws LockException.Unanswered if it waited for another administrator for too long
   */
  int create(SemaphoreSettings wanted, boolean settled) {
    SemaphoreAdmin semaphore = admin.semaphore(wanted.lock());
    boolean told = !settled && !wanted.isOfKey();
    boolean existed = told && unlessAdministered(wanted.lock(), () -> exists(semaphore));
    int actual =
        unlessAdministered(
            wanted.lock(),
            () ->
                semaphore instanceof TokenSemaphoreAdmin tokens
                    ? tokens.createIfAbsent(wanted.slots(), wanted.queueType())
                    : semaphore.createIfAbsent(wanted.slots()));
    if (wanted.isOfKey()) {
      keys.created(wanted.lock(), wanted.named());
    }
    if (settled) {
      return actual;
    }
    if (actual != wanted.slots()) {
      return settle(wanted, semaphore, actual);
    }
    if (told) {
      log.info(
          existed
              ? "The {} exists with {} slots, as configured"
              : "The {} was created with {} slots, as configured",
          wanted.lock(),
          actual);
    }
    return actual;
  }

  /**
   * For the log only. A record that another client has in hand cannot be read, but is there. A
   * semaphore whose token queue was deleted counts as existing, although the queue is made again.
   */
  private static boolean exists(SemaphoreAdmin semaphore) {
    try {
      return semaphore.count() > 0;
    } catch (LockException.Unexpected e) {
      return true;
    }
  }

  private static int settle(SemaphoreSettings wanted, SemaphoreAdmin semaphore, int actual) {
    LockId id = wanted.lock();
    int slots = wanted.slots();
    return switch (wanted.onMismatch()) {
      case ADOPT -> {
        log.warn(
            "{} exists with {} slots, which count; configured are {}. To have these, resize it once by the endpoint"
                + " amqplocks or admin(), or set {}.on-mismatch to resize",
            id,
            actual,
            slots,
            wanted.property());
        yield actual;
      }
      case RESIZE -> {
        unlessAdministered(id, () -> semaphore.resize(slots).after());
        log.info("{} existed with {} slots and was given the {} configured", id, actual, slots);
        yield slots;
      }
      case FAIL -> throw differs(wanted, actual);
    };
  }

  private static LockConfigurationException differs(SemaphoreSettings wanted, int actual) {
    String property = wanted.property();
    return new LockConfigurationException(
        "The %s has %d slots at the broker, configured are %d, and %s.on-mismatch is fail."
            .formatted(wanted.lock(), actual, wanted.slots(), property),
        "Configure %1$d slots, by %2$s.slots or in the annotations; or let an administrator resize it;"
                .formatted(actual, property)
            + " or set %1$s.on-mismatch to adopt, so that the broker's number counts, or to resize."
                .formatted(property));
  }

  private static <T> T unlessAdministered(LockId id, Supplier<T> step) {
    try {
      return step.get();
    } catch (LockException.AcquireTimeout e) {
      LockException.Unanswered broken =
          LockException.Unanswered.contended(
              "The %s could not be created, since an administrator works on it elsewhere: %s. The next call tries again"
                  .formatted(id, e.getMessage()));
      broken.addSuppressed(e);
      throw broken;
    }
  }

  /** Whether another administrator is the reason for that failure. */
  static boolean isAdministered(LockException failure) {
    return Arrays.stream(failure.getSuppressed())
        .anyMatch(LockException.AcquireTimeout.class::isInstance);
  }
}
