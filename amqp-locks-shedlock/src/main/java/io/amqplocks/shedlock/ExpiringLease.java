package io.amqplocks.shedlock;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A lease that is released when its time is over, unless the time was extended before.
 *
 * <p>The end is one value that changes by compare-and-set. So an extension and an expiry of the
 * same moment cannot both succeed, and an expired lease is never extended. All times are of {@code
 * System.nanoTime()}.
 */
final class ExpiringLease {

  /** When it ends, and whether it has. */
  record Term(long end, boolean over) {

    long left(long now) {
      return over ? 0 : end - now;
    }

    static Term of(long begin, Duration time) {
      return new Term(begin + nanos(time), false);
    }

    /** Three hundred years are as good as for ever, but must not overflow. */
    private static long nanos(Duration time) {
      Duration most = Duration.ofNanos(Long.MAX_VALUE / 2);
      return time.compareTo(most) < 0 ? time.toNanos() : most.toNanos();
    }
  }

  private final Lease lease;
  private final AtomicReference<Term> term;

  ExpiringLease(Lease lease, long began, Duration time) {
    this.lease = lease;
    this.term = new AtomicReference<>(Term.of(began, time));
  }

  /** The nanoseconds until it ends; zero or less if its time is over. */
  long left() {
    return term.get().left(System.nanoTime());
  }

  /** Whether it is held and the broker said so not long ago; asks the broker if need be. */
  boolean isHeld() {
    // In this order: the answer may take longer than there is time.
    return verified() == LeaseState.HELD && left() > 0;
  }

  /** The lease's state; asks the broker if need be. */
  LeaseState verified() {
    LeaseState state = lease.state();
    return state == LeaseState.UNCERTAIN ? lease.verify() : state;
  }

  /** Whether its time is over, or it is known to be held no more. Does not ask the broker. */
  boolean hasEnded() {
    LeaseState state = lease.state();
    return left() <= 0 || state == LeaseState.LOST || state == LeaseState.RELEASED;
  }

  boolean extend(long from, Duration time) {
    Term old = term.get();
    return old.left(System.nanoTime()) > 0 && term.compareAndSet(old, Term.of(from, time));
  }

  /**
   * Releases the lease if its time is over.
   *
   * @return the nanoseconds left, 0 if it was released by this call, or less if it had ended before
   */
  long expire() {
    while (true) {
      Term old = term.get();
      long left = old.left(System.nanoTime());
      if (old.over()) {
        return -1;
      }
      if (left > 0) {
        return left;
      }
      if (term.compareAndSet(old, new Term(old.end(), true))) {
        LeaseState state = lease.state();
        lease.close();
        return state == LeaseState.HELD || state == LeaseState.UNCERTAIN ? 0 : -1;
      }
    }
  }

  /**
   * Releases the lease.
   *
   * @return why it had ended before its time, if it had
   */
  Optional<String> release() {
    boolean closedByOthers =
        !term.getAndUpdate(old -> new Term(old.end(), true)).over()
            && lease.state() == LeaseState.RELEASED;
    lease.close();
    if (lease.state() == LeaseState.LOST) {
      return Optional.of(lease.lossReason().map(LossReason::toString).orElse("no known reason"));
    }
    return closedByOthers ? Optional.of("its AmqpLocks was closed") : Optional.empty();
  }
}
