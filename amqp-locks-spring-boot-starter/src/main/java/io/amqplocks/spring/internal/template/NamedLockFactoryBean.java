package io.amqplocks.spring.internal.template;

import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockResolver;
import io.amqplocks.spring.internal.nesting.LockOwner;
import org.springframework.beans.factory.FactoryBean;

/** The lock of a configured name, for injection into other beans. */
public final class NamedLockFactoryBean implements FactoryBean<LockHandle> {

  private final Family family;
  private final LockName name;
  private final LockResolver resolver;

  /** The lock of that family and name. */
  public NamedLockFactoryBean(Family family, String name, LockResolver resolver) {
    this.family = family;
    this.name = LockName.of(name);
    this.resolver = resolver;
  }

  @Override
  public LockHandle getObject() {
    return new LockHandle(
        new LazyLock(() -> resolver.lock(resolver.resolve(family, name)), LockOwner.of(resolver)),
        resolver.maxWait(family, name));
  }

  @Override
  public Class<?> getObjectType() {
    return LockHandle.class;
  }
}
