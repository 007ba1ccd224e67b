package io.amqplocks.leader;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind.Family;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link LeaderElection}. For one thread. */
public final class LeaderElectionBuilder {

  private static final Duration LONGEST = Duration.ofDays(1);

  final AmqpLock lock;
  final List<LeaderListener> listeners = new ArrayList<>();
  @Nullable LeaderTask task;
  Duration grace = Duration.ofSeconds(30);
  Duration yieldPause = Duration.ofSeconds(2);

  LeaderElectionBuilder(AmqpLock lock) {
    Family family = lock.id().kind().family();
    if (family != Family.MUTEX) {
      LockException.Invalid refusal =
          new LockException.Invalid(
              "The %s cannot elect a leader%s; use a mutex, such as locks.mutex(\"%s\")"
                  .formatted(
                      lock.id(),
                      family == Family.SEMAPHORE ? ", for it would have one for each slot" : "",
                      lock.id().name()));
      refusal.initLock(lock.id());
      throw refusal;
    }
    this.lock = lock;
  }

  /** Adds a listener. Several are called in the order in which they were added. */
  public LeaderElectionBuilder listener(LeaderListener listener) {
    listeners.add(listener);
    return this;
  }

  /** Sets the work that is done only while this process leads. The default is none. */
  public LeaderElectionBuilder task(LeaderTask work) {
    task = work;
    return this;
  }

  /**
   * How long the task and the listeners have to end after a term ended. During that time leadership
   * that is given up stays with this process, though {@link LeaderElection#isLeader()} is false, so
   * no other leader begins. After that the lock is released, whatever still runs. The default is 30
   * seconds.
   *
   * @throws LockException.Invalid if it is negative, or above a day
   */
  public LeaderElectionBuilder grace(Duration time) {
    grace = bounded(time, "grace");
    return this;
  }

  /**
   * How long this process does not contend after {@link LeaderElection#yieldLeadership()} or the
   * end of its task, so that others go first. The default is 2 seconds.
   *
   * @throws LockException.Invalid if it is negative, or above a day
   */
  public LeaderElectionBuilder yieldPause(Duration time) {
    yieldPause = bounded(time, "yieldPause");
    return this;
  }

  private Duration bounded(Duration time, String what) {
    if (time.isNegative() || time.compareTo(LONGEST) > 0) {
      throw new LockException.Invalid(
          "The %s of an election by the %s is %s; it must be from zero to %s"
              .formatted(what, lock.id(), time, LONGEST));
    }
    return time;
  }

  /** Creates the election. It contends from {@link LeaderElection#start()} on. */
  public LeaderElection build() {
    return new LeaderElection(this);
  }
}
