package io.amqplocks.spring.internal.setup;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.SemaphoreSettings;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the semaphores whose slots the catalog knows, once each: at startup, or at first use if
 * the broker could not be reached then. One that exists with other slots is treated as the catalog
 * says: adopted, by default. A semaphore that disappears later is not created again, since an
 * administrator did that; but that of a key is, which an administrator has tidied up.
 *
 * <p>Concurrency: an attempt that fails is taken out by those who joined it, so the next call makes
 * another one; one that succeeds stays, and answers all later calls.
 */
public final class SemaphoreSetup {

  private static final Logger log = LoggerFactory.getLogger(SemaphoreSetup.class);

  /** Keys come and go, so not all that were ever used are remembered. */
  private static final int MOST_REMEMBERED = 10_000;

  private final LockCatalog catalog;
  private final Supplier<Optional<LockException>> outage;
  private final int mostRemembered;
  private volatile boolean forgot;
  private volatile boolean unfinished;
  private final SemaphoreCreation creation;
  private final Map<LockId, SharedAttempt> attempts = new ConcurrentHashMap<>();

  /** Creates at the broker of those locks what that catalog knows. */
  public SemaphoreSetup(AmqpLocks locks, LockCatalog catalog) {
    this(locks.admin(), catalog, locks::outage, MOST_REMEMBERED);
  }

  SemaphoreSetup(
      LockAdmin admin,
      LockCatalog catalog,
      Supplier<Optional<LockException>> outage,
      int mostRemembered) {
    this.catalog = catalog;
    this.outage = outage;
    this.mostRemembered = mostRemembered;
    creation = new SemaphoreCreation(admin);
  }

  /**
   * Creates all semaphores that are known by now. A broker that cannot be reached or does not
   * answer is a warning: an application should start without it, and each semaphore is created when
   * it is first used. What will not go away by itself, such as a missing permission, is thrown.
   */
  public void ensureAll() {
    unfinished = false;
    for (LockId id : catalog.locks().stream().filter(catalog::isUsed).toList()) {
      try {
        ensure(id);
      } catch (LockException.Unreachable | LockException.Unanswered e) {
        unfinished = true;
        if (SemaphoreCreation.isAdministered(e)) {
          log.warn(
              "The {} is created at first use, since it cannot be done now: {}", id, e.toString());
        } else {
          log.warn(
              "Semaphores are created at first use, since it cannot be done now: {}", e.toString());
          return;
        }
      }
    }
  }

  /** Whether {@link #ensureAll} could not create all of them, since the broker was away. */
  public boolean isUnfinished() {
    return unfinished;
  }

  /**
   * Creates the lock as {@link #ensure(LockId)} does, unless that would only wait for the broker to
   * come back.
   *
   * @param failFast whether to throw a known outage at once
   */
  void ensure(LockId id, boolean failFast) {
    Optional<LockException> known = failFast && isPending(id) ? outage.get() : Optional.empty();
    if (known.isPresent()) {
      throw known.get();
    }
    ensure(id);
  }

  /**
   * Creates the lock if it is a semaphore with known slots that was not created yet.
   *
   * @throws LockException if that fails; the next call tries again
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread is interrupted while another
   *     one creates it
   */
  public void ensure(LockId id) {
    boolean done = false;
    while (!done) {
      SharedAttempt attempt = attempts.get(id);
      if (attempt == null) {
        Optional<SemaphoreSettings> wanted = catalog.semaphoreSettings(id);
        if (wanted.isEmpty()) {
          return;
        }
        if (attempts.size() >= mostRemembered) {
          forgetKeys();
        }
        attempt =
            attempts.computeIfAbsent(
                id,
                same ->
                    new SharedAttempt(
                        same, () -> creation.create(wanted.get(), isForgottenKey(id))));
      }
      try {
        done = attempt.join();
      } finally {
        if (attempt.hasFailed()) {
          attempts.remove(id, attempt);
        }
      }
    }
  }

  /**
   * Forgets that the lock was created, if it is the semaphore of a key: an administrator who
   * destroyed it meant to tidy up, and it is made again when it is used again.
   *
   * @return whether {@link #ensure} would now create it
   */
  boolean forget(LockId id) {
    if (!createsAgain(id)) {
      return false;
    }
    // Not one under way: another thread has found out too, and creates it.
    attempts.computeIfPresent(id, (same, attempt) -> attempt.isDone() ? null : attempt);
    return true;
  }

  /**
   * The failure of an acquire that found no semaphore. If nothing says how many slots it has, so
   * that nobody here creates it, the message says by which property it would be created.
   */
  LockException.NotFound explained(LockId id, LockException.NotFound gone) {
    if (catalog.slots(id) > 0) {
      return gone;
    }
    FamilyId name = FamilyId.of(id);
    LockException.NotFound explained =
        new LockException.NotFound(
            "%s; or set %s.slots, and it is created when it is first used"
                .formatted(gone.getMessage(), name.withoutKey().orElse(name).property()));
    gone.lock().ifPresent(explained::initLock);
    explained.setStackTrace(gone.getStackTrace());
    return explained;
  }

  /** The next use of each key asks the broker once more, only for whether it is still there. */
  private void forgetKeys() {
    forgot = true;
    attempts.entrySet().removeIf(each -> each.getValue().isDone() && createsAgain(each.getKey()));
  }

  /**
   * It may also be a new key, whose number of slots somebody else chose; that is not settled then.
   */
  private boolean isForgottenKey(LockId id) {
    return forgot && createsAgain(id);
  }

  /** How many semaphores are remembered as created. */
  int remembered() {
    return attempts.size();
  }

  /** Whether it is the semaphore of a key, which is created again when it is gone. */
  boolean createsAgain(LockId id) {
    return catalog.semaphoreSettings(id).filter(SemaphoreSettings::isOfKey).isPresent();
  }

  /** Whether {@link #ensure} would have to ask the broker, or wait for another thread that does. */
  boolean isPending(LockId id) {
    SharedAttempt attempt = attempts.get(id);
    return attempt == null ? catalog.semaphoreSettings(id).isPresent() : !attempt.isDone();
  }

  /** How many slots the semaphore had when it was created or adopted; empty before that. */
  public OptionalInt slots(LockId id) {
    SharedAttempt attempt = attempts.get(id);
    return attempt == null ? OptionalInt.empty() : attempt.slots();
  }
}
