package io.amqplocks;

import io.amqplocks.internal.admin.AdminMutex;
import io.amqplocks.internal.admin.MutexAdministration;
import io.amqplocks.internal.admin.PersistentMutexAdministration;
import io.amqplocks.internal.admin.SlotAdministration;
import io.amqplocks.internal.admin.SlotChanges;
import io.amqplocks.internal.admin.TokenAdministration;
import io.amqplocks.internal.admin.TokenTurn;
import io.amqplocks.internal.fencing.FenceAdministration;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock;
import io.amqplocks.internal.waiting.QueuedLock.Variant;
import io.amqplocks.lock.FenceAdmin;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.MutexAdmin;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;

/** Makes the administrators of locks. */
record Administrators(Parts parts) implements LockAdmin {

  private static final int MOST_TOLD = 256;

  @Override
  public SemaphoreAdmin semaphore(String name) {
    LockId id = LockId.semaphore(name);
    Slots slots = parts.slots(id);
    SlotChanges changes =
        new SlotChanges(
            id,
            slots,
            adminMutex(id),
            parts.sessions,
            parts.callTimeout,
            Ticker.SYSTEM,
            added -> announce(id, added));
    return new SlotAdministration(id, slots, changes);
  }

  /** As many as wait could be told; of more than that, the first who are served tell the others. */
  private void announce(LockId id, int added) {
    parts
        .sessions
        .ifOpen()
        .ifPresent(
            session -> {
              for (int i = 0; i < Math.min(added, MOST_TOLD); i++) {
                boolean unused = session.wakes().tell(id, parts.names.wake(id));
              }
            });
  }

  @Override
  public MutexAdmin mutex(String name) {
    LockId id = LockId.mutex(name);
    return new MutexAdministration(
        id, parts.names.mutex(id.name()), parts.sessions, parts.callTimeout, Ticker.SYSTEM);
  }

  @Override
  public PersistentMutexAdmin persistentMutex(String name) {
    LockId id = LockId.persistentMutex(name);
    String queue = parts.names.persistentMutex(id.name());
    return new PersistentMutexAdministration(
        id, queue, adminMutex(id), parts.sessions, parts.callTimeout, Ticker.SYSTEM);
  }

  @Override
  public TokenSemaphoreAdmin tokenSemaphore(String name) {
    return tokens(LockId.tokenSemaphore(name), TokenTurn.PATIENCE);
  }

  @Override
  public TokenSemaphoreAdmin fencedMutex(String name) {
    return tokens(LockId.fencedMutex(name), TokenTurn.PATIENCE);
  }

  /** Administers a token semaphore, or a fenced mutex; waits that long for other administrators. */
  TokenAdministration tokens(LockId id, Duration patience) {
    return new TokenAdministration(
        new TokenTurn(
            id,
            parts.names,
            parts.sessions,
            parts.callTimeout,
            Ticker.SYSTEM,
            Clock.systemUTC(),
            patience),
        parts.withdrawals);
  }

  @Override
  public FenceAdmin fence(LockId lock) {
    return new FenceAdministration(lock, parts.counterMaking, parts.sessions, Ticker.SYSTEM);
  }

  @Override
  public Optional<String> holderQueue(LockId lock, int slot) {
    return switch (lock.kind()) {
      case MUTEX -> Optional.of(parts.names.mutex(lock.name()));
      case SEMAPHORE -> Optional.of(parts.names.holder(lock.name(), slot));
      case PERSISTENT_MUTEX, TOKEN_SEMAPHORE, FENCED_MUTEX -> Optional.empty();
    };
  }

  private AdminMutex adminMutex(LockId id) {
    String queue = parts.names.admin(id);
    Claim claim = new MutexClaim(queue, parts.administration);
    return new AdminMutex(
        id, new QueuedLock(id, wanted -> claim, Variant.PLAIN, queue, parts.administrators));
  }
}
