package io.amqplocks.internal.fencing;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.FenceAdmin;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.SemaphoreAdmin;
import java.time.Duration;

/**
 * Renews the counters of one lock.
 *
 * @param lock the lock
 * @param making how counters are made
 * @param sessions the way to the broker
 * @param ticker the time
 */
public record FenceAdministration(
    LockId lock, CounterMaking making, Sessions sessions, Ticker ticker) implements FenceAdmin {

  /** Checks that the lock has counters. */
  public FenceAdministration {
    String admin =
        switch (lock.kind()) {
          case TOKEN_SEMAPHORE -> "tokenSemaphore";
          case FENCED_MUTEX -> "fencedMutex";
          case MUTEX, PERSISTENT_MUTEX, SEMAPHORE -> null;
        };
    if (admin != null) {
      throw new LockException.Invalid(
          "The %s draws its fencing tokens from its own queue and has no counters to renew; use"
                  .formatted(lock)
              + " admin().%1$s(\"%2$s\").repair(patience), or destroy() and then create()"
                  .formatted(admin, lock.name()));
    }
  }

  /** How long one administrator waits for another, its own steps included. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Override
  public long renew(int slot) {
    return renewAbove(slot, 0);
  }

  @Override
  public long renewAbove(int slot, long number) {
    int slots = lock.kind() == LockKind.SEMAPHORE ? SemaphoreAdmin.MAX_SLOTS : 1;
    if (slot < 1 || slot > slots || number < 0) {
      throw new LockException.Invalid(
          "The fence of slot %d of %s cannot be renewed above %d; slots are 1 to %d, and tokens positive"
              .formatted(slot, lock, number, slots));
    }
    Call call = Call.on(lock, PATIENCE, ticker);
    return making.renew(call, sessions.current(call), lock, slot, FencingToken.epochOf(number));
  }
}
