package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.internal.naming.KeyedName;
import io.amqplocks.spring.internal.nesting.LockOwner;

/**
 * Work under a lock without an annotation, for names that are known only at run time or for a part
 * of a method:
 *
 * <pre>{@code
 * locks.semaphore("images").execute(() -> upload(image));
 * locks.semaphore("images").withPermits(3).execute(() -> uploadAll(album)); // three, or none
 * boolean ran = locks.mutex("nightly-report").tryExecute(() -> report());
 * Price price = locks.readLock("prices").execute(() -> look(product)); // beside other readers
 * locks.writeLock("prices").execute(() -> change(product, price));     // alone
 * CompletableFuture<Receipt> sent =
 *     locks.semaphore("images").executeAsync(() -> client.send(image));
 * }</pre>
 *
 * <p>A mutex or semaphore whose name has properties can also be injected: {@code
 * @Qualifier("images") LockHandle images}. The read lock and the write lock of a name have
 * qualifiers that say which: {@code amqp-locks.read-write-locks.prices.read} and {@code ….write}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class LockTemplate implements LockOperations {

  private final LockResolver resolver;

  /** A template of the locks that the resolver finds. */
  public LockTemplate(LockResolver resolver) {
    this.resolver = resolver;
  }

  /**
   * A template that runs all work at once and without a lock, for an application whose locks are
   * switched off and for tests. Its leases are held until they are closed, and have no fencing
   * tokens.
   */
  public static LockTemplate withoutLocks() {
    return new LockTemplate(LockResolver.withoutLocks());
  }

  @Override
  public LockHandle semaphore(String name) {
    return handle(Family.SEMAPHORE, name);
  }

  @Override
  public LockHandle semaphore(String name, String key) {
    return handle(Family.SEMAPHORE, KeyedName.of(name, key));
  }

  @Override
  public LockHandle mutex(String name) {
    return handle(Family.MUTEX, name);
  }

  @Override
  public LockHandle mutex(String name, String key) {
    return handle(Family.MUTEX, KeyedName.of(name, key));
  }

  @Override
  public LockHandle readLock(String name) {
    return handle(Family.READ_LOCK, name);
  }

  @Override
  public LockHandle writeLock(String name) {
    return handle(Family.WRITE_LOCK, name);
  }

  @Override
  public LockHandle lock(LockId id) {
    return new LockHandle(
        resolver.lock(id), resolver.maxWait(id.kind().family(), id.name()), LockOwner.of(resolver));
  }

  private LockHandle handle(Family family, String name) {
    return lock(resolver.resolve(family, LockName.of(name)));
  }
}
