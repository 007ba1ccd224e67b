package io.amqplocks.spring.internal.catalog;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.catalog.NamedLock.Sourced;
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
  Sourced<LockKind> kind(Family family) {
    return switch (family) {
      case MUTEX -> new Sourced<>(LockKind.MUTEX, true, "default");
      case READ_LOCK -> new Sourced<>(LockKind.READ_LOCK, true, "default");
      case WRITE_LOCK -> new Sourced<>(LockKind.WRITE_LOCK, true, "default");
      case SEMAPHORE -> semaphore();
    };
  }

  private Sourced<LockKind> semaphore() {
    LockKind kind = semaphores.kind();
    return new Sourced<>(
        kind == null ? LockKind.TOKEN_SEMAPHORE : kind, true, "amqp-locks.semaphore-algorithm");
  }
}
