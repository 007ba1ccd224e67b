package io.amqplocks.internal.permits;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.OptionalInt;

/** How many slots a semaphore has at the broker. */
@FunctionalInterface
public interface SlotCount {

  /**
   * Asks the broker. Empty if nobody can tell, or there is no such semaphore.
   *
   * @throws LockException if the broker did not reply
   */
  OptionalInt of(Call call, Session session);
}
