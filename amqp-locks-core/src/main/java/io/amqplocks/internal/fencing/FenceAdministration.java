package io.amqplocks.internal.fencing;

import io.amqplocks.admin.FenceAdmin;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.waiting.TurnWait;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;

/**
 * Renews the counters of one lock, or those that the locks with keys of one name share.
 *
 * @param lock the lock, or the name
 * @param making creates the counters
 * @param sessions the connections to the broker
 * @param ticker the time
 */
public record FenceAdministration(
    LockId lock, CounterFactory making, Sessions sessions, Ticker ticker) implements FenceAdmin {

  /** Checks that the lock has counters. */
  public FenceAdministration {
    String admin =
        switch (lock.kind()) {
          case TOKEN_SEMAPHORE -> "tokenSemaphore";
          case FENCED_MUTEX -> "fencedMutex";
          case MUTEX,
              EXCLUSIVE_QUEUE_MUTEX,
              PERSISTENT_MUTEX,
              SLOT_SEMAPHORE,
              READ_LOCK,
              WRITE_LOCK ->
              null;
        };
    if (admin != null) {
      throw new LockException.Invalid(
          "The %s draws its fencing tokens from its own queue and has no counters to renew; use"
                  .formatted(lock)
              + " admin().%1$s(\"%2$s\").repair(timeout), or destroy() and then create()"
                  .formatted(admin, lock.name()));
    }
  }

  @Override
  public long renew(int slot) {
    return renewAbove(slot, 0);
  }

  @Override
  public long renewAbove(int slot, long number) {
    int slots = lock.kind() == LockKind.SLOT_SEMAPHORE ? SlotSemaphoreAdmin.MAX_SLOTS : 1;
    if (slot < 1 || slot > slots || number < 0) {
      throw new LockException.Invalid(
          "The fence of slot %d of %s cannot be renewed above %d; slots are 1 to %d, and tokens positive"
              .formatted(slot, lock, number, slots));
    }
    Call call = call();
    return renew(call, sessions.current(call), FenceCounter.of(lock, slot), number);
  }

  @Override
  public int renewKeys() {
    return renewKeys(false, 0);
  }

  @Override
  public int renewKeysAbove(long number) {
    if (number < 0) {
      throw new LockException.Invalid(
          "The fences of the keys of %s cannot be renewed above %d; tokens are positive"
              .formatted(lock, number));
    }
    return renewKeys(true, number);
  }

  /** Each counter has a bound of its own. What is renewed before another one fails stays so. */
  private int renewKeys(boolean all, long number) {
    lock.name()
        .withoutKey()
        .ifPresent(
            name -> {
              throw new LockException.Invalid(
                  "The %s has a key; all keys are renewed by the name without one, '%s'"
                      .formatted(lock, name));
            });
    int renewed = 0;
    for (FenceCounter counter : FenceCounter.sharedBy(lock)) {
      Call call = call();
      Session session = sessions.current(call);
      if (all || making.wasInUse(call, session, counter)) {
        long unused = renew(call, session, counter, number);
        renewed++;
      }
    }
    return renewed;
  }

  private long renew(Call call, Session session, FenceCounter counter, long number) {
    return making.renew(call, session, counter, FencingToken.epochOf(number));
  }

  /** Its bound includes the administrator's own steps. */
  private Call call() {
    return Call.on(lock, TurnWait.TIMEOUT, ticker);
  }
}
