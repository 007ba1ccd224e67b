package io.amqplocks.spring.guard;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.OnLost;
import java.util.Collection;
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

  /**
   * What the caller is to hear since a lock was lost while it waited for another one, so that it must
   * not begin; null if none is known to be. Does not ask the broker: a single lock was had just now.
   */
  static @Nullable LockException lossBeforeWork(Collection<Held> all) {
    if (all.size() > 1) {
      for (Held held : all) {
        if (held.lease.state() == LeaseState.LOST) {
          return new LockException.Lost(
              "The %s was lost before the method began, while it waited for another lock: %s. Nothing was done; call it again"
                  .formatted(held.wanted.name(), held.reason()),
              null);
        }
      }
    }
    return null;
  }

  /** Gives all back, whatever becomes of one of them. */
  static void close(Iterable<Held> all) {
    Throwable failure = null;
    for (Held held : all) {
      try {
        held.lease.close();
      } catch (RuntimeException | Error e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }

  private String reason() {
    return lease.lossReason().map(LossReason::toString).orElse("for no known reason");
  }

  private @Nullable LockException loss(@Nullable Throwable thrown, String where) {
    LeaseState state = lease.state();
    if (thrown == null && state != LeaseState.LOST) {
      state = lease.verify();
    }
    if (state == LeaseState.LOST) {
      return new LockException.Lost(
          "The %s was lost while %s worked under it, and others may have worked too: %s. What it did is not undone"
              .formatted(wanted.name(), where, reason()),
          thrown);
    }
    return state == LeaseState.UNCERTAIN && thrown == null
        ? new LockException.Unanswered(
            "The broker did not confirm the %s to the end of %s, so its result is withheld. What it did is not undone"
                .formatted(wanted.name(), where))
        : null;
  }
}
