package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.lock.LeaseState;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The right to be the next of all calls, in all processes, that contend for a lock: a mutex of its
 * own, which decides only who waits and not who holds. So a turn that is lost costs no lease.
 *
 * <p>Concurrency: for one thread at a time. A loss is noticed on other threads, and only wakes the
 * waiter.
 */
public final class Turn {

  private final Runnable wake;
  private @Nullable Subscription waiting;
  private @Nullable HeldLease lease;

  /**
   * Begins to wait for the turn.
   *
   * @param waiting waits for the mutex
   * @param wake is called when the turn is lost, on any thread; must not block
   */
  public Turn(Subscription waiting, Runnable wake) {
    this.waiting = waiting;
    this.wake = wake;
  }

  /** A turn that has come. */
  public Turn(HeldLease lease) {
    this.lease = lease;
    wake = () -> {};
  }

  /** Takes the turn if it has come. Whether this call has it now. */
  public boolean attempt(Call call) {
    Subscription before = waiting;
    if (before != null) {
      HeldLease won = before.attempt(call).orElse(null);
      if (won != null) {
        won.onLoss(wake);
        before.close();
        waiting = null;
        lease = won;
      }
    }
    return lease != null && !isLost();
  }

  /** Whether the turn was lost, taken, or is waited for no more. Another one is then needed. */
  public boolean isOver() {
    Subscription before = waiting;
    return before == null ? lease == null || isLost() : before.isOver();
  }

  private boolean isLost() {
    HeldLease held = lease;
    return held != null && held.state() == LeaseState.LOST;
  }

  /** The longest time to wait for a notification of the turn. Empty once it has come. */
  public OptionalLong pauseNanos() {
    Subscription before = waiting;
    return before == null ? OptionalLong.empty() : OptionalLong.of(before.pauseNanos());
  }

  /**
   * Takes the lease out of this turn, which is then over. From now on the caller must close the
   * lease.
   *
   * @throws IllegalStateException if the turn has not come
   */
  public HeldLease detachLease() {
    HeldLease held = lease;
    if (held == null) {
      throw new IllegalStateException("the turn has not come");
    }
    lease = null;
    return held;
  }

  /**
   * As {@link #close()}, within that call. If the call has no time left, the turn is given back in
   * the background: the caller has waited long enough for this broker.
   */
  public void close(Call call) {
    HeldLease held = lease;
    lease = null;
    if (held != null) {
      LeaseFactory.giveBack(call, held);
    }
    close();
  }

  /** Gives the turn to the next call, or stops waiting for it. Never throws. */
  public void close() {
    if (lease != null) {
      lease.close();
      lease = null;
    }
    if (waiting != null) {
      waiting.close();
      waiting = null;
    }
  }
}
