package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.FailureLog;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Combines several observers into one.
 *
 * @param observers the observers; each is guarded, so that none keeps an event from the next
 */
record CompositeObserver(List<LockObserver> observers) implements LockObserver {

  /** Combines the observers. If there are none, the result is a no-op that costs nothing. */
  static LockObserver of(List<LockObserver> observers) {
    List<LockObserver> guarded =
        observers.stream().<LockObserver>map(GuardedObserver::new).toList();
    return switch (guarded.size()) {
      case 0 -> NO_OP;
      case 1 -> guarded.get(0);
      default -> new CompositeObserver(guarded);
    };
  }

  @Override
  public Attempt begin(LockId lock) {
    return new Attempts(observers.stream().map(each -> each.begin(lock)).toList());
  }

  private record Attempts(List<Attempt> attempts) implements Attempt {
    @Override
    public Hold acquired(Lease lease) {
      return new Holds(attempts.stream().map(each -> each.acquired(lease)).toList());
    }

    @Override
    public void notAcquired(Outcome outcome, @Nullable Throwable failure) {
      attempts.forEach(each -> each.notAcquired(outcome, failure));
    }
  }

  private record Holds(List<Hold> holds) implements Hold {
    @Override
    public void released() {
      holds.forEach(Hold::released);
    }

    @Override
    public void lost(LossReason reason) {
      holds.forEach(each -> each.lost(reason));
    }
  }

  /**
   * Keeps the exceptions of an observer away from the lock. A lease that was acquired must reach
   * its caller, and a release never throws.
   *
   * @param observer the user's observer
   */
  private record GuardedObserver(LockObserver observer) implements LockObserver {

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
        // Errors are caught too. They are the observer's and not the lock's, which somebody holds
        // by now.
        FailureLog.write(() -> log.warn("A lock observer failed; the lock is not affected", e));
        return otherwise;
      }
    }
  }
}
