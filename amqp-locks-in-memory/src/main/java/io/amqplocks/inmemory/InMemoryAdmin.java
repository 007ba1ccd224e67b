package io.amqplocks.inmemory;

import io.amqplocks.admin.FenceAdmin;
import io.amqplocks.admin.KeySweep;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.admin.ReadWriteLockAdmin;
import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Optional;

/** The administration of locks in memory. */
record InMemoryAdmin(LockTable table) implements LockAdmin {

  @Override
  public SemaphoreAdmin semaphore(LockId id) {
    return switch (id.kind()) {
      case SLOT_SEMAPHORE -> new SlotsAdmin(new Administered(id, table));
      case TOKEN_SEMAPHORE, FENCED_MUTEX -> new TokensAdmin(new Administered(id, table));
      case MUTEX, EXCLUSIVE_QUEUE_MUTEX, PERSISTENT_MUTEX, READ_LOCK, WRITE_LOCK ->
          throw new LockException.Invalid(
              "The %s has no slots to administer; a semaphore has".formatted(id));
    };
  }

  @Override
  public SlotSemaphoreAdmin slotSemaphore(String name) {
    return new SlotsAdmin(new Administered(LockId.slotSemaphore(name), table));
  }

  @Override
  public TokenSemaphoreAdmin tokenSemaphore(String name) {
    return new TokensAdmin(new Administered(LockId.tokenSemaphore(name), table));
  }

  @Override
  public TokenSemaphoreAdmin fencedMutex(String name) {
    return new TokensAdmin(new Administered(LockId.fencedMutex(name), table));
  }

  @Override
  public MutexAdmin mutex(String name) {
    return heldOf(LockId.mutex(name));
  }

  @Override
  public MutexAdmin exclusiveQueueMutex(String name) {
    return heldOf(LockId.exclusiveQueueMutex(name));
  }

  private MutexAdmin heldOf(LockId id) {
    Administered mutex = new Administered(id, table);
    return () -> mutex.with(lock -> lock.inUse() > 0);
  }

  @Override
  public ReadWriteLockAdmin readWriteLock(String name) {
    Administered both = new Administered(LockId.writeLock(name), table);
    return () -> both.with(LockState::inUse);
  }

  @Override
  public PersistentMutexAdmin persistentMutex(String name) {
    return new PersistentAdmin(new Administered(LockId.persistentMutex(name), table));
  }

  @Override
  public FenceAdmin fence(LockId lock) {
    if (lock.kind() == LockKind.TOKEN_SEMAPHORE || lock.kind() == LockKind.FENCED_MUTEX) {
      String admin = lock.kind() == LockKind.FENCED_MUTEX ? "fencedMutex" : "tokenSemaphore";
      throw new LockException.Invalid(
          "The %s draws its fencing tokens from its own queue and has no counters to renew; use"
                  .formatted(lock)
              + " admin().%1$s(\"%2$s\").repair(timeout), or destroy() and then create()"
                  .formatted(admin, lock.name()));
    }
    return new Fences(new Administered(lock, table));
  }

  @Override
  public KeySweep sweepKeys(LockId name, Duration unused) {
    throw Administered.unsupported("sweepKeys");
  }

  /** There is no queue in memory. */
  @Override
  public Optional<String> holderQueue(LockId lock, int slot) {
    return Optional.empty();
  }

  /** The name of the broker's default one. There is none in memory, and nothing that it has. */
  @Override
  public String virtualHost() {
    return "/";
  }

  /** The administration of a persistent mutex, which has one slot while it is enabled. */
  private record PersistentAdmin(Administered mutex) implements PersistentMutexAdmin {

    @Override
    public void enable() {
      int unused = mutex.setCount(before -> 1).after();
    }

    @Override
    public void disable() {
      SlotChange unused =
          mutex.setCount(
              before -> 0,
              new LossReason(LossReason.Cause.REVOKED, "%s was disabled".formatted(mutex.id())));
    }

    @Override
    public boolean isEnabled() {
      return mutex.withSlots(slots -> slots.count > 0);
    }

    @Override
    public boolean isHeld() {
      return mutex.withSlots(slots -> slots.count > 0 && slots.inUse() > 0);
    }
  }

  /** The fences of one lock. */
  private record Fences(Administered lock) implements FenceAdmin {

    @Override
    public long renew(int slot) {
      return renewAbove(slot, 0);
    }

    @Override
    public long renewAbove(int slot, long number) {
      int most = lock.id().kind() == LockKind.SLOT_SEMAPHORE ? SlotSemaphoreAdmin.MAX_SLOTS : 1;
      if (slot < 1 || slot > most || number < 0) {
        throw new LockException.Invalid(
            "The fence of slot %d of %s cannot be renewed above %d; slots are 1 to %d, and tokens positive"
                .formatted(slot, lock.id(), number, most));
      }
      return lock.with(state -> state.fences.renew(lock.id(), slot, number));
    }

    @Override
    public int renewKeys() {
      throw Administered.unsupported("renewKeys");
    }

    @Override
    public int renewKeysAbove(long number) {
      throw Administered.unsupported("renewKeysAbove");
    }
  }
}
