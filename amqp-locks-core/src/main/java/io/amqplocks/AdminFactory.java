package io.amqplocks;

import io.amqplocks.admin.FenceAdmin;
import io.amqplocks.admin.KeySweep;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.admin.ReadWriteLockAdmin;
import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.AdminMutex;
import io.amqplocks.internal.exclusive.ExclusiveQueueMutexAdministration;
import io.amqplocks.internal.exclusive.ExclusiveQueueMutexClaim;
import io.amqplocks.internal.fencing.FenceAdministration;
import io.amqplocks.internal.mutex.MutexAdministration;
import io.amqplocks.internal.persistent.PersistentMutexAdministration;
import io.amqplocks.internal.readwrite.ReadWriteLockAdministration;
import io.amqplocks.internal.slots.SlotAdministration;
import io.amqplocks.internal.slots.SlotChanges;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.tokens.admin.AdminTurn;
import io.amqplocks.internal.tokens.admin.KeySweeping;
import io.amqplocks.internal.tokens.admin.TokenAdministration;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock;
import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.internal.waiting.Variant;
import io.amqplocks.internal.wakeup.WakeQueues;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;

/** Creates the administrators of locks. */
record AdminFactory(Components components) implements LockAdmin {

  private static final int MOST_TOLD = 256;

  @Override
  public SemaphoreAdmin semaphore(LockId id) {
    String name = id.name().value();
    return switch (id.kind()) {
      case SLOT_SEMAPHORE -> slotSemaphore(name);
      case TOKEN_SEMAPHORE -> tokenSemaphore(name);
      case FENCED_MUTEX -> fencedMutex(name);
      case MUTEX, EXCLUSIVE_QUEUE_MUTEX, PERSISTENT_MUTEX, READ_LOCK, WRITE_LOCK ->
          throw new LockException.Invalid(
              "The %s has no slots to administer; a semaphore has".formatted(id));
    };
  }

  @Override
  public SlotSemaphoreAdmin slotSemaphore(String name) {
    LockId id = LockId.slotSemaphore(name);
    Slots slots = components.slots(id);
    SlotChanges changes =
        new SlotChanges(
            id,
            slots,
            adminMutex(id),
            components.sessions,
            components.callTimeout,
            Ticker.SYSTEM,
            added -> announce(id, added));
    return new SlotAdministration(id, slots, changes);
  }

  /**
   * Notifies one waiter for each added slot, up to a limit. Above the limit, the waiters that are
   * served first notify the others when they release.
   */
  private void announce(LockId id, int added) {
    components
        .sessions
        .ifOpen()
        .ifPresent(
            session -> {
              for (int i = 0; i < Math.min(added, MOST_TOLD); i++) {
                WakeQueues.of(session).tell(id, components.names.wake(id), () -> {});
              }
            });
  }

  @Override
  public MutexAdmin mutex(String name) {
    LockId id = LockId.mutex(name);
    return new MutexAdministration(
        id,
        components.names.mutex(id.name()),
        components.sessions,
        components.callTimeout,
        Ticker.SYSTEM);
  }

  @Override
  public MutexAdmin exclusiveQueueMutex(String name) {
    LockId id = LockId.exclusiveQueueMutex(name);
    return new ExclusiveQueueMutexAdministration(
        id,
        components.names.exclusiveQueueMutex(id.name()),
        components.sessions,
        components.callTimeout,
        Ticker.SYSTEM);
  }

  @Override
  public PersistentMutexAdmin persistentMutex(String name) {
    LockId id = LockId.persistentMutex(name);
    String queue = components.names.persistentMutex(id.name());
    return new PersistentMutexAdministration(
        id, queue, adminMutex(id), components.sessions, components.callTimeout, Ticker.SYSTEM);
  }

  @Override
  public ReadWriteLockAdmin readWriteLock(String name) {
    LockId id = LockId.writeLock(name);
    return new ReadWriteLockAdministration(
        id,
        components.names.readWrite(id.name()),
        components.sessions,
        components.callTimeout,
        Ticker.SYSTEM);
  }

  @Override
  public TokenSemaphoreAdmin tokenSemaphore(String name) {
    return tokens(LockId.tokenSemaphore(name), TurnWait.TIMEOUT);
  }

  @Override
  public TokenSemaphoreAdmin fencedMutex(String name) {
    return tokens(LockId.fencedMutex(name), TurnWait.TIMEOUT);
  }

  /**
   * Administers a token semaphore or a fenced mutex. The timeout is how long it waits for other
   * administrators.
   */
  TokenAdministration tokens(LockId id, Duration timeout) {
    return new TokenAdministration(turn(id, timeout), components.withdrawals);
  }

  private AdminTurn turn(LockId id, Duration timeout) {
    return new AdminTurn(
        id,
        components.names,
        components.sessions,
        components.callTimeout,
        Ticker.SYSTEM,
        components.clock,
        timeout);
  }

  @Override
  public FenceAdmin fence(LockId lock) {
    return new FenceAdministration(
        lock, components.counterFactory, components.sessions, Ticker.SYSTEM);
  }

  @Override
  public KeySweep sweepKeys(LockId name, Duration unused) {
    return new KeySweeping(turn(name, TurnWait.TIMEOUT)).sweep(unused);
  }

  @Override
  public Optional<String> holderQueue(LockId lock, int slot) {
    return switch (lock.kind()) {
      case MUTEX -> Optional.of(components.names.mutex(lock.name()));
      case EXCLUSIVE_QUEUE_MUTEX -> Optional.of(components.names.exclusiveQueueMutex(lock.name()));
      case SLOT_SEMAPHORE -> Optional.of(components.names.holder(lock.name(), slot));
      case READ_LOCK, WRITE_LOCK -> Optional.of(components.names.readWrite(lock.name()));
      case PERSISTENT_MUTEX, TOKEN_SEMAPHORE, FENCED_MUTEX -> Optional.empty();
    };
  }

  @Override
  public String virtualHost() {
    return components.virtualHost;
  }

  private AdminMutex adminMutex(LockId id) {
    String queue = components.names.admin(id);
    Claim claim =
        new ExclusiveQueueMutexClaim(queue, components.exclusive(components.administration));
    return new AdminMutex(
        id, new QueuedLock(id, wanted -> claim, Variant.PLAIN, queue, components.administrators));
  }
}
