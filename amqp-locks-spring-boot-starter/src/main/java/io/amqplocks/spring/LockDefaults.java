package io.amqplocks.spring;

import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.spring.NamedLock.Said;
import java.time.Duration;

/**
 * What counts where nothing is said of a lock itself.
 *
 * @param maxWait how long to wait
 * @param semaphores the algorithm of semaphores; {@link SemaphoreAlgorithm#DEFAULT} is tokens
 * @param queueType what keeps the tokens of semaphores
 */
public record LockDefaults(
    Duration maxWait, SemaphoreAlgorithm semaphores, TokenQueueType queueType) {

  /** Which kind of lock it is, and who says so. */
  Said<LockKind> kind(LockKind family) {
    if (family == LockKind.MUTEX) {
      return new Said<>(LockKind.MUTEX, true, "default");
    }
    LockKind kind = semaphores.kind();
    return new Said<>(
        kind == null ? LockKind.TOKEN_SEMAPHORE : kind, true, "amqp-locks.semaphore-algorithm");
  }
}
