package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.method.Guard;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds annotations that want more permits than their semaphore has slots, so that no call could
 * ever run. Looks once at startup, after semaphores with known slots were created. The number that
 * such a semaphore was found with counts; if it was not created yet, the configured one does.
 * Semaphores of keys have the configured one. The broker is asked for the others, at last. If it
 * does not answer, no more questions follow, so a silent broker delays the start by one timeout.
 */
public final class TooManyPermits extends StartupCheck {

  private static final Logger log = LoggerFactory.getLogger(TooManyPermits.class);

  private final GuardedMethods methods;
  private final LockCatalog catalog;
  private final SemaphoreSetup setup;
  private final AmqpLocks locks;

  /**
   * Looks at those methods.
   *
   * @param setup knows the slots of the semaphores that it created
   * @param locks asks the broker for those of the others
   */
  public TooManyPermits(
      GuardedMethods methods, LockCatalog catalog, SemaphoreSetup setup, AmqpLocks locks) {
    super(AFTER_CREATION);
    this.methods = methods;
    this.catalog = catalog;
    this.setup = setup;
    this.locks = locks;
  }

  /**
   * Looks for them.
   *
   * @throws GuardedMethodException if there is one
   */
  @Override
  void check() {
    look(this::knownSlots);
    try {
      look(this::slotsAtBroker);
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      log.debug("How many slots semaphores have cannot be asked now", e);
    }
  }

  private void look(ToIntFunction<Guard> count) {
    for (GuardedMethod method : methods.all()) {
      for (Guard guard : method.guards()) {
        if (guard.permits().fixed() > 1) {
          look(method, guard, count.applyAsInt(guard));
        }
      }
    }
  }

  private void look(GuardedMethod method, Guard guard, int slots) {
    if (slots > 0) {
      requireEnough(method, guard, catalog.resolve(guard.lock()), slots);
    }
  }

  /**
   * Throws if the semaphore has fewer slots than the method wants permits.
   *
   * @throws GuardedMethodException if it has
   */
  static void requireEnough(GuardedMethod method, Guard guard, LockId id, int slots) {
    int permits = guard.permits().fixed();
    if (slots < permits) {
      throw new GuardedMethodException(
          ("%s wants %d permits of the %s at once, and it has %d slots: want %d at most; or give it more slots"
                  + " by %s.slots, and if it exists at the broker, have an administrator resize it or set %s.on-mismatch=resize")
              .formatted(
                  method.where(),
                  permits,
                  id,
                  slots,
                  slots,
                  FamilyId.of(id).property(),
                  FamilyId.of(id).property()));
    }
  }

  /** How many slots it has as far as that is known without the broker, else 0. */
  private int knownSlots(Guard guard) {
    LockId id = catalog.resolve(guard.lock());
    OptionalInt created = guard.key() == null ? setup.slots(id) : OptionalInt.empty();
    return created.orElseGet(() -> catalog.slots(id));
  }

  /** How many slots the broker says that it has; 0 if the broker does not tell, or need not. */
  private int slotsAtBroker(Guard guard) {
    if (guard.key() != null || knownSlots(guard) > 0) {
      return 0;
    }
    LockId id = catalog.resolve(guard.lock());
    try {
      return locks.admin().semaphore(id).count();
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      throw e;
    } catch (LockException e) {
      log.debug("How many slots {} has cannot be seen now", id, e);
      return 0;
    }
  }
}
