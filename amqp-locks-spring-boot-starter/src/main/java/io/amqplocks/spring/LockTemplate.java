package io.amqplocks.spring;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Work under a lock without an annotation, for names that are known only at run time or for a part
 * of a method:
 *
 * <pre>{@code
 * locks.semaphore("images").execute(() -> upload(image));
 * boolean ran = locks.mutex("nightly-report").tryExecute(() -> report());
 * CompletableFuture<Receipt> sent = locks.semaphore("images").executeAsync(() -> client.send(image));
 * }</pre>
 *
 * <p>A lock whose name has properties can also be injected, as what this gives for its name: {@code
 * @Qualifier("images") LockOperations images}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class LockTemplate {

  private final Function<LockId, AmqpLock> locks;
  private final LockCatalog catalog;
  private final SemaphoreSetup setup;

  /** Works with those locks, creates semaphores by that set-up, and waits as the catalog says. */
  public LockTemplate(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup) {
    this(id -> lock(locks, id), catalog, setup);
  }

  private LockTemplate(
      Function<LockId, AmqpLock> locks, LockCatalog catalog, SemaphoreSetup setup) {
    this.locks = locks;
    this.catalog = catalog;
    this.setup = setup;
  }

  /**
   * A template that runs all work at once and without a lock, for an application whose locks are
   * switched off. Its leases are held until they are closed, and have no fencing tokens.
   */
  public static LockTemplate withoutLocks() {
    LockCatalog nothing = new LockCatalog(Duration.ZERO);
    return new LockTemplate(NoLock::new, nothing, new SemaphoreSetup(new NoAdmin(), nothing));
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
    return new LockOperations(locks.apply(id), setup, catalog.waitFor(id));
  }

  /** The semaphore or the mutex of that name, which is looked up when it is used. */
  LockOperations late(LockKind kind, String name) {
    LockId family = kind == LockKind.MUTEX ? LockId.mutex(name) : LockId.semaphore(name);
    Supplier<AmqpLock> lookUp =
        () -> locks.apply(kind == LockKind.MUTEX ? catalog.mutex(name) : catalog.semaphore(name));
    return new LockOperations(new LateLock(lookUp), setup, catalog.waitFor(family));
  }

  private static AmqpLock lock(AmqpLocks locks, LockId id) {
    String name = id.name().value();
    return switch (id.kind()) {
      case MUTEX -> locks.mutex(name);
      case PERSISTENT_MUTEX -> locks.persistentMutex(name);
      case SEMAPHORE -> locks.semaphore(name);
      case TOKEN_SEMAPHORE -> locks.tokenSemaphore(name);
      case FENCED_MUTEX -> locks.fencedMutex(name);
    };
  }
}
