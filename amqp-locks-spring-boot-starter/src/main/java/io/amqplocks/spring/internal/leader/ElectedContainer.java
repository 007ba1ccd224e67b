package io.amqplocks.spring.internal.leader;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.Lifecycle;

/**
 * A listener's container, which runs while its process leads and its context is started.
 *
 * <p>Concurrency: the election's thread settles it, and so does a thread that starts or stops the
 * context. One at a time does, since a container that waits for its handlers still counts as
 * running, and ignores a start. So this lock is held while the container talks with the broker.
 * Whoever held it looks afterwards whether something else is wanted by then. So whoever waits in
 * vain or is interrupted may go: what had changed before is seen by the one that holds the lock.
 * The wait has a bound because the election notifies nobody of a term's end while a grant waits.
 * Spring starts and stops containers without this lock. It does so when a context starts or stops,
 * and they are settled after that.
 */
final class ElectedContainer implements LeaderListener {

  private static final Logger log = LoggerFactory.getLogger(ElectedContainer.class);

  /** As an election's grace period is by default. A stop takes 5 s by default. */
  private static final long WAIT_SECONDS = 30;

  private final ReentrantLock settling = new ReentrantLock();
  private final String id;
  private final Lifecycle container;
  private final LeaderElection election;
  private final BooleanSupplier started;

  /** The container of the listener with that id, in a context that is started or is not. */
  ElectedContainer(
      String id, Lifecycle container, LeaderElection election, BooleanSupplier started) {
    this.id = id;
    this.container = container;
    this.election = election;
    this.started = started;
  }

  void attach() {
    election.addListener(this);
  }

  /** Its context is closed. The election may be one of a context above, and go on. */
  void detach() {
    election.removeListener(this);
  }

  /**
   * If the container is that one: whoever leads and consumes nothing would hold up all others. One
   * that has lost a consumer and goes on, as a direct one does, begins another.
   */
  void stopsItself(Object which, String why) {
    if (which.equals(container) && !container.isRunning() && election.isLeader()) {
      log.warn(
          "The container of listener '{}' stops itself, and leadership is given up: {}", id, why);
      boolean unused = election.yieldLeadership("its listener stopped itself: " + why);
    }
  }

  @Override
  public void granted(Leadership leadership) {
    // Else it is settled when the context is started, and Spring may be starting it right now.
    if (started.getAsBoolean()) {
      settle();
    }
  }

  @Override
  public void revoked(Leadership leadership, Revocation revocation) {
    settle();
  }

  /** Starts or stops it, as it should be. */
  void settle() {
    boolean again = true;
    while (again) {
      again = settleOnce();
    }
  }

  /** Whether something else is wanted by now. */
  private boolean settleOnce() {
    if (!awaitTurn()) {
      return false;
    }
    boolean wanted;
    try {
      wanted = isWanted();
      if (wanted) {
        start();
      } else {
        stop();
      }
    } finally {
      settling.unlock();
    }
    // Not before the lock is free: somebody may have given up waiting for it until then.
    return wanted != isWanted();
  }

  /** An interrupted thread has its turn too if nobody else has it. */
  private boolean awaitTurn() {
    try {
      return settling.tryLock() || settling.tryLock(WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean isWanted() {
    return started.getAsBoolean() && election.isLeader();
  }

  private void start() {
    try {
      if (!container.isRunning()) {
        container.start();
      }
    } catch (RuntimeException | Error e) {
      log.warn(
          "The container of listener '{}' could not be started; leadership is given up", id, e);
      boolean unused = election.yieldLeadership("its listener could not be started");
    }
  }

  private void stop() {
    try {
      if (container.isRunning()) {
        container.stop();
      }
    } catch (RuntimeException | Error e) {
      log.warn("The container of listener '{}' could not be stopped", id, e);
    }
  }
}
