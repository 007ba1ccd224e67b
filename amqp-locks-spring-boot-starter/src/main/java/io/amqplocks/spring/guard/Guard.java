package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.LockTemplate;
import java.time.Duration;

/**
 * One lock that a method wants to hold.
 *
 * @param lock the semaphore or the mutex, whatever its algorithm
 * @param maxWait how long it waits for it
 * @param priority of all who wait those with the highest are served first
 */
record Guard(LockId lock, Duration maxWait, int priority) {

  /** The same among those locks. */
  LockOperations in(LockTemplate locks) {
    String name = lock.name().value();
    LockOperations operations =
        lock.kind() == LockKind.MUTEX ? locks.mutex(name) : locks.semaphore(name);
    operations = operations.waiting(maxWait);
    return priority == 0 ? operations : operations.withPriority(priority);
  }
}
