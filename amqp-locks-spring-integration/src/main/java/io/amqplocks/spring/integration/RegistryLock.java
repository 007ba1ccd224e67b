package io.amqplocks.spring.integration;

import io.amqplocks.juc.ReentrantAmqpLock;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;

/** A reentrant lock that reports a loss as Spring Integration's registries do. */
@SuppressWarnings("LockNotBeforeTry") // Whoever calls it unlocks.
final class RegistryLock implements DistributedLock {

  private final ReentrantAmqpLock lock;

  RegistryLock(ReentrantAmqpLock lock) {
    this.lock = lock;
  }

  @Override
  public void lock() {
    lock.lock();
  }

  @Override
  public void lock(Duration ttl) {
    lock.lock(ttl);
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
  }

  @Override
  public boolean tryLock() {
    return lock.tryLock();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLock(time, unit);
  }

  @Override
  public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
    return lock.tryLock(waitTime, ttl);
  }

  @Override
  public void unlock() {
    try {
      lock.unlock();
    } catch (LockException.Lost lost) {
      ConcurrentModificationException translated =
          new ConcurrentModificationException(lost.getMessage());
      translated.initCause(lost);
      throw translated;
    }
  }

  @Override
  public Condition newCondition() {
    return lock.newCondition();
  }

  @Override
  public String toString() {
    return lock.toString();
  }
}
