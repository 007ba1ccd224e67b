package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what an observer throws from the lock: a lease that came about must reach its caller, and to give
 * one back never throws.
 *
 * @param observer the user's own
 */
record GuardedObserver(LockObserver observer) implements LockObserver {

  private static final Logger log = LoggerFactory.getLogger(GuardedObserver.class);

  @Override
  public Attempt begin(LockId lock) {
    return new GuardedAttempt(guarded(() -> observer.begin(lock), Attempt.NO_OP));
  }

  private record GuardedAttempt(Attempt attempt) implements Attempt {
    @Override
    public Hold acquired(Lease lease) {
      return new GuardedHold(guarded(() -> attempt.acquired(lease), Hold.NO_OP));
    }

    @Override
    public void notAcquired(Outcome outcome, @Nullable Throwable failure) {
      guarded(() -> attempt.notAcquired(outcome, failure));
    }
  }

  private record GuardedHold(Hold hold) implements Hold {
    @Override
    public void released() {
      guarded(hold::released);
    }

    @Override
    public void lost(LossReason reason) {
      guarded(() -> hold.lost(reason));
    }
  }

  private static void guarded(Runnable notice) {
    boolean unused =
        guarded(
            () -> {
              notice.run();
              return true;
            },
            false);
  }

  private static <T> T guarded(Supplier<T> notice, T otherwise) {
    try {
      return notice.get();
    } catch (RuntimeException | Error e) {
      // An Error too: of an observer, not of the lock, which somebody holds by now.
      log.warn("A lock observer failed; the lock is not affected", e);
      return otherwise;
    }
  }
}
