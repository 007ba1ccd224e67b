package io.amqplocks.spring.internal.template;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.LockResolver;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.nesting.LockOwner;
import io.amqplocks.spring.internal.setup.AutoCreatedLock;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import java.time.Duration;

/**
 * Resolves names by what the catalog knows of them, and lets semaphores be created before they are
 * acquired.
 *
 * @param locks where all locks come from
 * @param catalog what properties and annotations say
 * @param setup creates semaphores
 */
public record CatalogResolver(AmqpLocks locks, LockCatalog catalog, SemaphoreSetup setup)
    implements LockResolver, LockOwner {

  @Override
  public Object owner() {
    return locks;
  }

  @Override
  public LockId resolve(Family family, LockName name) {
    return catalog.resolve(new FamilyId(family, name));
  }

  @Override
  public AmqpLock lock(LockId id) {
    AmqpLock lock = locks.lock(id);
    return id.kind().family() == Family.SEMAPHORE ? new AutoCreatedLock(lock, setup) : lock;
  }

  @Override
  public Duration maxWait(Family family, LockName name) {
    return catalog.waitFor(new FamilyId(family, name));
  }
}
