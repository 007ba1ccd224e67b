package io.amqplocks.spring;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;

/**
 * Work under a lock without an annotation, for names that are known only at run time or for a part
 * of a method:
 *
 * <pre>{@code
 * locks.semaphore("images").execute(() -> upload(image));
 * boolean ran = locks.mutex("nightly-report").tryExecute(() -> report());
 * }</pre>
 *
 * <p>Safe for use by any number of threads.
 */
public final class LockTemplate {

  private final AmqpLocks locks;
  private final LockCatalog catalog;
  private final SemaphoreSetup setup;

  /** Works with those locks, creates semaphores by that set-up, and waits as the catalog says. */
  public LockTemplate(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    this.locks = locks;
    this.catalog = catalog;
    this.setup = setup;
  }

  /**
   * The semaphore of that name, of the algorithm that properties or annotations say, or else of
   * {@code amqp-locks.semaphore-algorithm}: tokens unless set otherwise. It must exist, or its slots
   * be configured or annotated.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public LockOperations semaphore(String name) {
    return on(catalog.semaphore(name));
  }

  /**
   * The semaphore of that key among those of that name: what an annotation with this {@code name} and
   * {@code key} means. It has the settings of the name, and stays at the broker: see {@link
   * SemaphoreGuarded#key}.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  public LockOperations semaphore(String name, String key) {
    return semaphore(KeyedName.of(name, key));
  }

  /**
   * The mutex of that key among those of that name: what an annotation with this {@code name} and
   * {@code key} means. It has the settings of the name.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed, or the key is blank
   */
  public LockOperations mutex(String name, String key) {
    return mutex(KeyedName.of(name, key));
  }

  /**
   * The mutex of that name, of the algorithm that properties or annotations say, or else an
   * exclusive queue.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public LockOperations mutex(String name) {
    return on(catalog.mutex(name));
  }

  /**
   * The persistent mutex of that name. It must have been enabled by an administrator.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public LockOperations persistentMutex(String name) {
    return on(LockId.persistentMutex(name));
  }

  /**
   * The token semaphore of that name, whatever algorithm {@link #semaphore} has for it. It must
   * exist, or be that one.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public LockOperations tokenSemaphore(String name) {
    return on(LockId.tokenSemaphore(name));
  }

  /**
   * The fenced mutex of that name, which needs no creating, whatever algorithm {@link #mutex} has
   * for it.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public LockOperations fencedMutex(String name) {
    return on(LockId.fencedMutex(name));
  }

  /** The lock of that kind and name, whatever algorithm properties or annotations say. */
  public LockOperations on(LockId id) {
    String name = id.name().value();
    AmqpLock lock =
        switch (id.kind()) {
          case MUTEX -> locks.mutex(name);
          case PERSISTENT_MUTEX -> locks.persistentMutex(name);
          case SEMAPHORE -> locks.semaphore(name);
          case TOKEN_SEMAPHORE -> locks.tokenSemaphore(name);
          case FENCED_MUTEX -> locks.fencedMutex(name);
        };
    return new LockOperations(lock, setup, catalog.waitFor(id));
  }
}
