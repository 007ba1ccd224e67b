package io.amqplocks.spring.internal.catalog;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.internal.naming.FamilyId;

/**
 * How a semaphore is to be created.
 *
 * @param lock the semaphore
 * @param slots how many slots it is to have
 * @param queueType what is to keep its tokens, if it has tokens
 * @param onMismatch what to do if it exists with another number of slots
 * @param named the semaphore whose settings these are: itself, or the one whose key it is of
 */
public record SemaphoreSettings(
    LockId lock, int slots, TokenQueueType queueType, OnMismatch onMismatch, LockId named) {

  /** Whether it is the semaphore of a key. */
  public boolean isOfKey() {
    return !named.equals(lock);
  }

  /** The common prefix of the properties that these settings come from. */
  public String property() {
    return FamilyId.of(named).property();
  }
}
