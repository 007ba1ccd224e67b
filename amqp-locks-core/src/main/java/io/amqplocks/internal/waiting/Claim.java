package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import java.util.Optional;

/** How a slot of a lock is had: what tells one kind of lock from another. */
@FunctionalInterface
public interface Claim {

  /** Takes a slot if one is free, else answers empty; waits for no holder. */
  Optional<HeldLease> attempt(Call call, Session session);

  /**
   * The same when somebody just said that a slot is free. Unless a kind of lock knows a shorter way that is
   * worth its price if the word was wrong, an attempt like any other.
   */
  default Optional<HeldLease> attemptWhenTold(Call call, Session session) {
    return attempt(call, session);
  }

  /**
   * Makes known that this client waits for a slot; to be closed when it does no more. Unless a kind of
   * lock knows better, nobody is told, and attempts are repeated after jittered pauses.
   *
   * @param wake is to be called when an attempt is worth while, on any thread; must not block
   */
  default Vigil keepVigil(Call call, Session session, Runnable wake) {
    return new PollingVigil(this, session);
  }

  /**
   * For how long one who is about to try, and would wait, should let others go first, because this process
   * just gave a slot back and told one of them.
   */
  default long courtesyNanos(Session session) {
    return 0;
  }
}
