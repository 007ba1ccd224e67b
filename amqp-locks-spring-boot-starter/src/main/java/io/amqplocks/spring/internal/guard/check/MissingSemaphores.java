package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.method.Guard;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.naming.FamilyId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds semaphores that annotations name and that nobody makes: no annotation and no property gives
 * them slots, and the broker does not know them either, as when a name was misspelt. Looks once at
 * startup, after those with slots were created. The semaphores of keys have no names yet; that
 * nobody gives them slots is a warning, since an administrator may create them. If the broker
 * cannot be asked, the first call finds out.
 */
public final class MissingSemaphores extends StartupCheck {

  private static final Logger log = LoggerFactory.getLogger(MissingSemaphores.class);

  private final GuardedMethods methods;
  private final LockCatalog catalog;
  private final AmqpLocks locks;

  /** Looks for those methods' semaphores at the broker of those locks. */
  public MissingSemaphores(GuardedMethods methods, LockCatalog catalog, AmqpLocks locks) {
    super(AFTER_CREATION);
    this.methods = methods;
    this.catalog = catalog;
    this.locks = locks;
  }

  /**
   * Looks for them.
   *
   * @throws GuardedMethodException if one is missing
   */
  @Override
  void check() {
    try {
      for (GuardedMethod method : methods.all()) {
        for (Guard guard : method.guards()) {
          if (guard.lock().family() == Family.SEMAPHORE) {
            LockId id = catalog.resolve(guard.lock());
            if (guard.key() == null) {
              look(method, id);
            } else if (catalog.slots(id) == 0) {
              warn(method, id);
            }
          }
        }
      }
    } catch (LockException e) {
      log.debug("Whether all semaphores exist cannot be seen now", e);
    }
  }

  private static void warn(GuardedMethod method, LockId id) {
    log.warn(
        "{} wants a semaphore for each key of {}, and nothing says how many slots they have. A call fails unless"
            + " somebody has created that of its key. Say it by slots in the annotation, or by {}.slots",
        method.where(),
        id,
        FamilyId.of(id).property());
  }

  private void look(GuardedMethod method, LockId id) {
    if (catalog.slots(id) == 0 && locks.admin().semaphore(id).count() == 0) {
      throw new GuardedMethodException(
          ("%s wants the %s, and there is none: no annotation and no property says how many slots it has,"
                  + " and it does not exist at the broker. Correct the name; or give it slots there or by %s.slots;"
                  + " or have it created before this application starts")
              .formatted(method.where(), id, FamilyId.of(id).property()));
    }
  }
}
