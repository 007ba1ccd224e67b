package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import java.time.Duration;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One lock that a method wants to hold.
 *
 * @param lock the semaphore or the mutex of that name, whatever its algorithm
 * @param key which of that name; null if there is only one
 * @param maxWait how long it waits for it; zero does not wait
 * @param priority of all who wait those with the highest are served first
 * @param fenced whether its lease has a token
 * @param onBusy what to do when it is busy
 * @param fallback what to call then; null unless {@code onBusy} says so
 * @param onLost what to do when its lease is lost
 */
record Guard(
    LockId lock,
    @Nullable KeyExpression key,
    Duration maxWait,
    int priority,
    boolean fenced,
    OnBusy onBusy,
    @Nullable Fallback fallback,
    OnLost onLost) {

  /** What that call wants. */
  Wanted by(MethodInvocation call, LockTemplate locks) {
    return in(locks, key == null ? null : key.of(call));
  }

  /** The same for all calls, where there is no key. */
  Wanted by(LockTemplate locks) {
    return in(locks, null);
  }

  private Wanted in(LockTemplate locks, @Nullable String keyed) {
    String name = lock.name().value();
    LockOperations operations;
    if (lock.kind() == LockKind.MUTEX) {
      operations = keyed == null ? locks.mutex(name) : locks.mutex(name, keyed);
    } else {
      operations = keyed == null ? locks.semaphore(name) : locks.semaphore(name, keyed);
    }
    operations = operations.waiting(maxWait);
    operations = priority == 0 ? operations : operations.withPriority(priority);
    return new Wanted(this, keyed == null ? "" : keyed, fenced ? operations.fenced() : operations);
  }

  /** Whether a busy lock is for the caller to hear of, as an exception. */
  boolean throwsWhenBusy() {
    return onBusy == OnBusy.WAIT || onBusy == OnBusy.THROW;
  }

  /** As it stands in messages. */
  String described() {
    return key == null ? lock.toString() : lock + " with the key " + key;
  }
}
