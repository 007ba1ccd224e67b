package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Several observers as one.
 *
 * @param observers each of them, guarded, so that none keeps word from the next
 */
record Observers(List<LockObserver> observers) implements LockObserver {

  /** Those observers; what costs nothing if there are none. */
  static LockObserver of(List<LockObserver> observers) {
    List<LockObserver> guarded =
        observers.stream().<LockObserver>map(GuardedObserver::new).toList();
    return switch (guarded.size()) {
      case 0 -> NO_OP;
      case 1 -> guarded.get(0);
      default -> new Observers(guarded);
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
}
