package io.amqplocks.spring;

import io.amqplocks.lock.FenceAdmin;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.MutexAdmin;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.util.Optional;

/** Where locks are switched off there is no broker, and so nothing to administer. */
final class NoAdmin implements LockAdmin {

  @Override
  public SemaphoreAdmin semaphore(String name) {
    throw off();
  }

  @Override
  public PersistentMutexAdmin persistentMutex(String name) {
    throw off();
  }

  @Override
  public TokenSemaphoreAdmin tokenSemaphore(String name) {
    throw off();
  }

  @Override
  public TokenSemaphoreAdmin fencedMutex(String name) {
    throw off();
  }

  @Override
  public FenceAdmin fence(LockId lock) {
    throw off();
  }

  @Override
  public MutexAdmin mutex(String name) {
    throw off();
  }

  @Override
  public Optional<String> holderQueue(LockId lock, int slot) {
    return Optional.empty();
  }

  private static LockException off() {
    return new LockException.Closed("Locks are switched off by amqp-locks.enabled=false");
  }
}
