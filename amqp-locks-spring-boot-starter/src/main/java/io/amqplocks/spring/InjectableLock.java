package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import org.springframework.beans.factory.FactoryBean;

/**
 * The lock of a configured name, for injection into other beans. Not meant to be called by
 * applications.
 */
public final class InjectableLock implements FactoryBean<LockOperations> {

  private final LockKind kind;
  private final String name;
  private final LockTemplate locks;

  /** The semaphore or the mutex of that name. */
  public InjectableLock(LockKind kind, String name, LockTemplate locks) {
    this.kind = kind;
    this.name = name;
    this.locks = locks;
  }

  @Override
  public LockOperations getObject() {
    return locks.late(kind, name);
  }

  @Override
  public Class<?> getObjectType() {
    return LockOperations.class;
  }
}
