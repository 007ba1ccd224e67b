package io.amqplocks.spring.guard;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.OnLost;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a call holds.
 *
 * @param wanted what it wanted
 * @param lease what it has
 */
record Held(Wanted wanted, Lease lease) {

  /**
   * What the caller is to hear instead of a result, since a lease was lost; null if none was. Asks
   * the broker where there is a result.
   *
   * @param thrown what the work threw, if it did
   */
  static @Nullable LockException loss(
      Iterable<Held> all, @Nullable Throwable thrown, String where) {
    for (Held held : all) {
      LockException loss =
          held.wanted.guard().onLost() == OnLost.NOTIFY ? null : held.loss(thrown, where);
      if (loss != null) {
        return loss;
      }
    }
    return null;
  }

  private @Nullable LockException loss(@Nullable Throwable thrown, String where) {
    LeaseState state = lease.state();
    if (thrown == null && state != LeaseState.LOST) {
      state = lease.verify();
    }
    if (state == LeaseState.LOST) {
      return new LockException.Lost(
          "The %s was lost while %s worked under it, and others may have worked too: %s. What it did is not undone"
              .formatted(
                  wanted.name(),
                  where,
                  lease.lossReason().map(LossReason::toString).orElse("for no known reason")),
          thrown);
    }
    return state == LeaseState.UNCERTAIN && thrown == null
        ? new LockException.Unanswered(
            "The broker did not confirm the %s to the end of %s, so its result is withheld. What it did is not undone"
                .formatted(wanted.name(), where))
        : null;
  }
}
