package io.amqplocks.spring.endpoint;

import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.lock.TokenStatus;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How a lock stands at the broker, in a few round trips. Takes nothing from anybody. */
record BrokerQuestion(LockAdmin admin) {

  /**
   * Asks.
   *
   * @throws io.amqplocks.lock.LockException if the broker does not say
   */
  BrokerDescriptor ask(LockId id) {
    String name = id.name().value();
    return switch (id.kind()) {
      case MUTEX -> BrokerDescriptor.mutex(null, admin.mutex(name).isHeld());
      case PERSISTENT_MUTEX -> persistent(admin.persistentMutex(name));
      case SEMAPHORE -> slots(admin.semaphore(name));
      case TOKEN_SEMAPHORE -> tokens(admin.tokenSemaphore(name), true);
      case FENCED_MUTEX -> fenced(admin.fencedMutex(name));
    };
  }

  private static BrokerDescriptor persistent(PersistentMutexAdmin mutex) {
    boolean enabled = mutex.isEnabled();
    return BrokerDescriptor.mutex(enabled, enabled && mutex.isHeld());
  }

  private static BrokerDescriptor slots(SemaphoreAdmin semaphore) {
    int slots = semaphore.count();
    Set<Integer> held = semaphore.holders();
    int inUse = held.size();
    int used = (int) held.stream().filter(slot -> slot <= slots).count();
    return new BrokerDescriptor(
        slots > 0,
        slots,
        inUse,
        Math.max(0, slots - used),
        held,
        unlessNone(inUse - used),
        null,
        null);
  }

  private static BrokerDescriptor tokens(TokenSemaphoreAdmin semaphore, boolean needsCreating) {
    TokenStatus status = semaphore.status();
    return new BrokerDescriptor(
        needsCreating ? status.slots() > 0 : null,
        status.slots(),
        status.inUse(),
        status.idle(),
        null,
        unlessNone(status.pendingWithdrawals()),
        unlessNone(status.unsettled()),
        null);
  }

  /** Its first acquire makes it, so that it is free before that too. */
  private static BrokerDescriptor fenced(TokenSemaphoreAdmin mutex) {
    BrokerDescriptor made = tokens(mutex, false);
    return Integer.valueOf(0).equals(made.slots()) ? BrokerDescriptor.mutex(null, false) : made;
  }

  private static @Nullable Integer unlessNone(int number) {
    return number == 0 ? null : number;
  }
}
