package io.amqplocks.spring;

import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the semaphores whose slots the catalog knows, once each: at startup, or at first use if
 * the broker could not be reached then. One that exists with other slots is treated as the catalog
 * says: adopted, by default. A semaphore that disappears later is not created again, since an
 * administrator did that; but that of a key is, which an administrator has tidied up.
 */
public final class SemaphoreSetup {

  private static final Logger log = LoggerFactory.getLogger(SemaphoreSetup.class);

  private final LockAdmin admin;
  private final LockCatalog catalog;
  private final SlotMismatch mismatch;

  /** Done or under way; threads that want the same semaphore share one attempt. */
  private final Map<LockId, FutureTask<Integer>> attempts = new ConcurrentHashMap<>();

  private final KeyCount keys = new KeyCount();

  /** Creates by that administration what that catalog knows. */
  public SemaphoreSetup(LockAdmin admin, LockCatalog catalog) {
    this.admin = admin;
    this.catalog = catalog;
    mismatch = new SlotMismatch(admin, catalog);
  }

  /**
   * Creates all semaphores that are known by now. A broker that cannot be reached or does not
   * answer is a warning: an application should start without it, and each semaphore is created when
   * it is first used. What will not go away by itself, such as a missing permission, is thrown.
   */
  public void ensureAll() {
    for (LockId id : catalog.locks().stream().filter(catalog::isUsed).toList()) {
      try {
        ensure(id);
      } catch (LockException.Unreachable | LockException.Unanswered e) {
        if (BusyAdministrator.isCauseOf(e)) {
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

  /**
   * Creates the lock if it is a semaphore with known slots that was not created yet.
   *
   * @throws LockException if that fails; the next call tries again
   * @throws io.amqplocks.lock.LockException.Interrupted if the thread is interrupted while another one creates it
   */
  public void ensure(LockId id) {
    boolean done = !isSemaphore(id);
    while (!done) {
      done = attempt(id);
    }
  }

  /**
   * Forgets that the lock was created, if it is the semaphore of a key: an administrator who destroyed
   * it meant to tidy up, and it is made again when it is used again.
   *
   * @return whether {@link #ensure} would now create it
   */
  boolean forget(LockId id) {
    if (!isOfKey(id) || catalog.slots(id) == 0) {
      return false;
    }
    // Not one under way: another thread has found out too, and creates it.
    attempts.computeIfPresent(id, (same, attempt) -> attempt.isDone() ? null : attempt);
    return true;
  }

  /** Whether it is the semaphore of a key. */
  boolean isOfKey(LockId id) {
    return isSemaphore(id) && !catalog.known(id).equals(id);
  }

  /** Whether {@link #ensure} would have to ask the broker, or wait for another thread that does. */
  boolean ensures(LockId id) {
    FutureTask<Integer> attempt = attempts.get(id);
    return isSemaphore(id) && (attempt == null ? catalog.slots(id) != 0 : !attempt.isDone());
  }

  private static boolean isSemaphore(LockId id) {
    return id.kind() == LockKind.SEMAPHORE || id.kind() == LockKind.TOKEN_SEMAPHORE;
  }

  /** False if it was another thread's attempt and that thread was interrupted: this one was not. */
  private boolean attempt(LockId id) {
    FutureTask<Integer> attempt = attempts.get(id);
    boolean mine = false;
    if (attempt == null) {
      if (catalog.slots(id) == 0) {
        return true;
      }
      FutureTask<Integer> own = new FutureTask<>(() -> create(id));
      attempt = attempts.putIfAbsent(id, own);
      if (attempt == null) {
        attempt = own;
        mine = true;
        own.run();
      }
    }
    try {
      attempt.get();
      return true;
    } catch (ExecutionException e) {
      attempts.remove(id, attempt);
      if (mine) {
        throw SharedFailure.asItIs(id, e.getCause());
      }
      if (e.getCause() instanceof LockException.Interrupted) {
        return false;
      }
      throw SharedFailure.inAnotherThread(id, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for " + id);
    }
  }

  /** How many slots the semaphore had when it was created or adopted; empty before that. */
  public OptionalInt slots(LockId id) {
    FutureTask<Integer> attempt = attempts.get(id);
    if (attempt == null || !attempt.isDone()) {
      return OptionalInt.empty();
    }
    try {
      return OptionalInt.of(attempt.get());
    } catch (ExecutionException | CancellationException e) {
      return OptionalInt.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return OptionalInt.empty();
    }
  }

  private int create(LockId id) {
    int wanted = catalog.slots(id);
    String name = id.name().value();
    int actual =
        BusyAdministrator.awaited(
            id,
            () ->
                id.kind() == LockKind.TOKEN_SEMAPHORE
                    ? admin.tokenSemaphore(name).createIfAbsent(wanted, catalog.queueType(id))
                    : admin.semaphore(name).createIfAbsent(wanted));
    if (isOfKey(id)) {
      keys.created(id, catalog.known(id));
    }
    return actual == wanted
        ? actual
        : BusyAdministrator.awaited(id, () -> mismatch.settle(id, actual, wanted));
  }
}
