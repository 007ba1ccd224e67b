package io.amqplocks.juc;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;

/** The lease of one thread, and how often that thread has acquired it. Used by that thread only. */
final class Hold {

  final Lease lease;
  private int count = 1;

  Hold(Lease lease) {
    this.lease = lease;
  }

  int count() {
    return count;
  }

  /**
   * Counts a further acquire, if the lease still stands. One that ended is not replaced here: the
   * work that began under it would not hear of that.
   */
  void reenter() {
    LeaseState state = lease.state();
    if (state == LeaseState.UNCERTAIN) {
      state = lease.verify();
    }
    if (state == LeaseState.UNCERTAIN) {
      throw ofThisLock(
          new LockException.Unanswered(
              "The broker did not say whether this thread still holds %s, which it acquired before; try again, or unlock it as often as it was locked"
                  .formatted(lease.lock())));
    }
    if (state != LeaseState.HELD) {
      throw lost();
    }
    count = Math.incrementExact(count);
  }

  /** Whether this was the outermost unlock. */
  boolean leave() {
    count--;
    return count == 0;
  }

  /**
   * Releases the lease.
   *
   * @throws LockException.Lost if it had ended before
   */
  void release() {
    boolean endedBefore = lease.state() == LeaseState.RELEASED;
    lease.close();
    if (endedBefore || lease.state() == LeaseState.LOST) {
      throw lost();
    }
  }

  private LockException lost() {
    String why = lease.lossReason().map(Object::toString).orElse("it was released elsewhere");
    return ofThisLock(
        new LockException.Lost(
            "%s was lost while this thread held it: %s. Others may have worked at the same time; unlock it as often as it was locked, and check what was done"
                .formatted(lease.lock(), why),
            null));
  }

  private LockException ofThisLock(LockException failure) {
    failure.initLock(lease.lock());
    return failure;
  }
}
