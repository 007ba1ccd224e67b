package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.method.Guard;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds annotations that want more permits than the slots that their semaphore would be created
 * with, before it is created: a start that fails leaves no semaphore behind. One that exists at the
 * broker already may have more slots than configured, so the broker is asked. That is done for
 * suspicious methods only, and there should be none. If the broker does not answer, nothing is
 * created either, and {@link TooManyPermits} decides.
 */
public final class PermitsBeforeCreation extends StartupCheck {

  private static final Logger log = LoggerFactory.getLogger(PermitsBeforeCreation.class);

  private final GuardedMethods methods;
  private final LockCatalog catalog;
  private final AmqpLocks locks;

  /** Looks at those methods; asks the broker of those locks. */
  public PermitsBeforeCreation(GuardedMethods methods, LockCatalog catalog, AmqpLocks locks) {
    super(BEFORE_CREATION);
    this.methods = methods;
    this.catalog = catalog;
    this.locks = locks;
  }

  /**
   * Looks for them.
   *
   * @throws GuardedMethodException if there is one
   */
  @Override
  void check() {
    for (GuardedMethod method : methods.all()) {
      for (Guard guard : method.guards()) {
        LockId id = catalog.resolve(guard.lock());
        int slots = catalog.slots(id);
        if (slots > 0 && slots < guard.permits().fixed()) {
          TooManyPermits.requireEnough(
              method, guard, id, isDecided(guard, id) ? slots : existing(id, slots));
        }
      }
    }
  }

  /** Whether the configured number will be the one at the broker, whatever it is now. */
  private boolean isDecided(Guard guard, LockId id) {
    return guard.key() != null || catalog.onMismatch(id) == OnMismatch.RESIZE;
  }

  /** How many slots it has at the broker, or would have. */
  private int existing(LockId id, int configured) {
    try {
      int count = locks.admin().semaphore(id).count();
      return count > 0 ? count : configured;
    } catch (LockException e) {
      log.debug("How many slots {} has cannot be seen now", id, e);
      return Integer.MAX_VALUE;
    }
  }
}
