package io.amqplocks.inmemory;

import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind;
import java.time.Duration;

/** The administration of a token semaphore, or of a fenced mutex. */
record TokensAdmin(Administered semaphore) implements TokenSemaphoreAdmin {

  @Override
  public void create(int slots, TokenQueueType type) {
    int unused = create(slots, type, false);
  }

  @Override
  public int createIfAbsent(int slots, TokenQueueType type) {
    return create(slots, type, true);
  }

  private int create(int wanted, TokenQueueType type, boolean anyWillDo) {
    requireInRange(wanted);
    if (isFencedMutex() && type != TokenQueueType.QUORUM) {
      throw new LockException.Invalid(
          "The %s has fencing tokens, which need a quorum queue and not %s; use QUORUM"
              .formatted(semaphore.id(), type));
    }
    return semaphore
        .setCount(
            present -> {
              // One monitor guards both, and a change may read the slots again.
              SlotSet slots = semaphore.table().slots(semaphore.id());
              if (present == 0) {
                slots.type = type;
                return wanted;
              }
              if (!anyWillDo && (present != wanted || slots.type != type)) {
                throw new LockException.Conflict(
                    "There is a %s already, with %d slots on a %s queue and not %d on a %s one; it stays as it is"
                        .formatted(semaphore.id(), present, slots.type, wanted, type));
              }
              return present;
            })
        .after();
  }

  @Override
  public SlotChange resize(int slots) {
    requireInRange(slots);
    return semaphore.setCount(
        present -> {
          if (present == 0) {
            throw new LockException.NotFound("There is no %s; create it".formatted(semaphore.id()));
          }
          return slots;
        });
  }

  @Override
  public void destroy() {
    SlotChange unused = semaphore.setCount(present -> 0);
  }

  @Override
  public TokenStatus status() {
    return semaphore.withSlots(
        slots -> {
          int inUse = slots.inUse();
          int tokens = Math.max(slots.count, inUse);
          return new TokenStatus(
              slots.count, tokens, tokens - inUse, inUse, tokens - slots.count, 0);
        });
  }

  @Override
  public boolean awaitWithdrawn(Duration wait) throws InterruptedException {
    return semaphore.await(slots -> slots.inUse() <= slots.count, wait);
  }

  @Override
  public TokenAudit audit(Duration timeout) {
    throw Administered.unsupported("audit");
  }

  @Override
  public TokenAudit repair(Duration timeout) {
    throw Administered.unsupported("repair");
  }

  private boolean isFencedMutex() {
    return semaphore.id().kind() == LockKind.FENCED_MUTEX;
  }

  private void requireInRange(int slots) {
    if (isFencedMutex() && slots != 1) {
      throw new LockException.Invalid(
          "The %s has one slot and cannot have %d; use a token semaphore"
              .formatted(semaphore.id(), slots));
    }
    semaphore.requireInRange(slots, 1);
  }
}
