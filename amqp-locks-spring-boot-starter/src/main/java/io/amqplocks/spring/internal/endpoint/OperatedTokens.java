package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A token semaphore. It asks how many tokens are in use before those of this process go back. If
 * there are more than are held here, it replaces those of the others. Then a waiter that has just
 * acquired a token can lose it too, because it cannot be distinguished from theirs.
 */
final class OperatedTokens extends OperatedLock {

  private static final String OVERLAP =
      "Holders in other processes learn of it at their next verification, and may overlap with new"
          + " ones until then.";

  private final LockId lock;
  private final TokenSemaphoreAdmin semaphore;

  OperatedTokens(AmqpLocks locks, LockId id, TokenSemaphoreAdmin semaphore) {
    super(locks, id);
    lock = id;
    this.semaphore = semaphore;
  }

  @Override
  BrokerDescriptor describe() {
    TokenStatus status = semaphore.status();
    return describe(status, status.slots() > 0);
  }

  static BrokerDescriptor describe(TokenStatus status, @Nullable Boolean exists) {
    return new BrokerDescriptor(
        exists,
        status.slots(),
        status.inUse(),
        status.idle(),
        null,
        unlessNone(status.pendingWithdrawals()),
        unlessNone(status.unsettled()),
        null);
  }

  private static @Nullable Integer unlessNone(int number) {
    return number == 0 ? null : number;
  }

  @Override
  Done resize(int slots) {
    return resized(semaphore.resize(slots), pendingWithdrawals());
  }

  /** The resize is done, whatever the broker answers after it. */
  private @Nullable String pendingWithdrawals() {
    try {
      int pending = semaphore.status().pendingWithdrawals();
      return pending == 0
          ? null
          : "%d slots are in use and go as they are given back; this process sees to that."
              .formatted(pending);
    } catch (LockException e) {
      return "How many removed slots are still in use is not known: " + e.getMessage();
    }
  }

  @Override
  Done release(String why, Duration timeout) {
    Supplier<Integer> others = asked(() -> heldByOthers(lock::equals, semaphore::inUse));
    int revoked = revoke(why);
    return PartialChangeException.unless(
        revoked,
        () ->
            others.get() <= 0 ? released(revoked, 0, null) : replaced(semaphore, revoked, timeout));
  }

  static Done replaced(TokenSemaphoreAdmin tokens, int revoked, Duration timeout) {
    TokenAudit audit = tokens.repair(timeout);
    int outstanding = audit.outstanding();
    return released(revoked, outstanding, outstanding == 0 ? null : OVERLAP);
  }
}
