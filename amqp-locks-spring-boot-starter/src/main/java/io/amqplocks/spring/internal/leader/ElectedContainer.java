package io.amqplocks.spring.internal.leader;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.context.Lifecycle;

/**
 * A listener's container, which runs while its process leads and its context is started.
 *
 * <p>Concurrency, who settles it: the thread of the term's {@linkplain TermWatch watch}, the
 * election's thread, and a thread that starts or stops the context. One at a time does, since a
 * container that waits for its handlers still counts as running, and ignores a start. So this lock
 * is held while the container talks with the broker. Whoever held it looks afterwards whether
 * something else is wanted by then. So whoever waits in vain or is interrupted may go: what had
 * changed before is seen by the one that holds the lock. Spring starts and stops containers without
 * this lock. It does so when a context starts or stops, and they are settled after that.
 *
 * <p>Why it stops in time: it is started only under a watch of the present term, by whoever starts
 * it. That thread stops it when the term is over, and waits for nobody else's listener. It needs
 * the lock for that, which somebody may hold in two ways. Who is stopping the container does the
 * work already. Who is starting it is interrupted. No start begins after that interrupt, since both
 * are decided under the guard, and a term that is over stays so. Nothing blocks under the guard.
 *
 * <p>Why the next leader begins after it has stopped: a revocation returns when the watch's thread
 * has ended. That thread waits for the lock for as long as it takes, and the election begins no
 * term meanwhile. It calls the container alone. A handler that closes the election waits for that
 * thread, but a container waits for its handlers for a limited time, and so does the election's
 * close.
 */
// More than 300 lines: the start, the stop and the watch share one lock, and one argument.
final class ElectedContainer implements LeaderListener {

  private static final Logger log = LoggerFactory.getLogger(ElectedContainer.class);

  /**
   * As an election's grace period is by default. A stop takes 5 s by default. Without a bound a
   * grant could keep the election from telling others of the term's end.
   */
  private static final long WAIT_SECONDS = 30;

  private static final long STOPPING_LOOK_MILLIS = 20;
  private static final long MOST_STOPPING_LOOKS =
      TimeUnit.SECONDS.toMillis(WAIT_SECONDS) / STOPPING_LOOK_MILLIS;

  private final ReentrantLock settling = new ReentrantLock();
  private final String id;
  private final Lifecycle container;
  private final LeaderElection election;
  private final BooleanSupplier started;
  private final Watching watching;
  private volatile boolean detached;

  /** Of the last term in which it was to run. Only who holds the lock sets it. */
  private volatile @Nullable TermWatch watch;

  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable Thread starting;
  private boolean interrupted;

  /** Begins to watch a term. */
  interface Watching {
    TermWatch begin(Leadership term, String name, Runnable end);
  }

  /** The container of the listener with that id, in a context that is started or is not. */
  ElectedContainer(
      String id, Lifecycle container, LeaderElection election, BooleanSupplier started) {
    this(id, container, election, started, TermWatch::of);
  }

  ElectedContainer(
      String id,
      Lifecycle container,
      LeaderElection election,
      BooleanSupplier started,
      Watching watching) {
    this.id = id;
    this.container = container;
    this.election = election;
    this.started = started;
    this.watching = watching;
  }

  void attach() {
    election.addListener(this);
  }

  /** Its context is closed. The election may be one of a context above, and go on. */
  void detach() {
    election.removeListener(this);
    detached = true;
    forgetTerm();
  }

  private void forgetTerm() {
    TermWatch last = watch;
    if (last != null) {
      last.wake();
    }
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

  /** Returns when the container has stopped. */
  @Override
  public void revoked(Leadership leadership, Revocation revocation) {
    TermWatch last = watch;
    if (last != null && last.isOf(leadership)) {
      last.wake();
      awaitEnd(last);
    }
    settle();
  }

  private static void awaitEnd(TermWatch watch) {
    try {
      watch.awaitEnd();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Starts or stops it, as it should be. */
  void settle() {
    boolean again = true;
    while (again) {
      again = awaitTurn() && settleOnce();
    }
  }

  /** On the thread of the term's watch. */
  private void endTerm() {
    interruptStart();
    boolean again = true;
    while (again) {
      settling.lock();
      again = settleOnce();
    }
  }

  /** Whether something else is wanted by now. Under the lock, which it unlocks. */
  private boolean settleOnce() {
    boolean wanted;
    try {
      Optional<Leadership> term = wantedBy();
      wanted = term.isPresent() && isWatched(term.get());
      if (wanted) {
        start();
      } else {
        stop();
      }
    } finally {
      settling.unlock();
    }
    if (detached) {
      forgetTerm(); // it may have been watched just then
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
    return wantedBy().isPresent();
  }

  private Optional<Leadership> wantedBy() {
    return started.getAsBoolean() && !detached ? election.leadership() : Optional.empty();
  }

  /** From now on, if nobody has watched that term yet. */
  private boolean isWatched(Leadership term) {
    TermWatch last = watch;
    if (last != null && last.isOf(term)) {
      return true;
    }
    try {
      watch = watching.begin(term, "amqp-locks leader listener " + id, this::endTerm);
      return true;
    } catch (Error e) {
      // First, since what there is no memory for may fail again.
      boolean unused = election.yieldLeadership("there is no thread to stop its listener by");
      log.warn(
          "There is no thread to stop the container of listener '{}' by; leadership is given up",
          id,
          e);
      return false;
    }
  }

  private void start() {
    if (container.isRunning() || !beginStart()) {
      return;
    }
    try {
      container.start();
    } catch (RuntimeException | Error e) {
      if (isWanted()) {
        boolean unused = election.yieldLeadership("its listener could not be started");
        log.warn(
            "The container of listener '{}' could not be started; leadership is given up", id, e);
      } else {
        log.info("The start of the container of listener '{}' was given up: {}", id, e.toString());
      }
    } finally {
      endStart();
    }
  }

  /** Whether it may start: nobody would interrupt it if its term were over already. */
  private boolean beginStart() {
    guard.lock();
    try {
      boolean may = isWanted();
      starting = may ? Thread.currentThread() : null;
      return may;
    } finally {
      guard.unlock();
    }
  }

  /** The thread goes on, and may have to wait for the container's stop. */
  private void endStart() {
    guard.lock();
    try {
      starting = null;
      if (interrupted) {
        interrupted = false;
        boolean unused = Thread.interrupted();
      }
    } finally {
      guard.unlock();
    }
  }

  private void interruptStart() {
    guard.lock();
    try {
      Thread hanging = starting;
      if (hanging != null && !isWanted()) {
        interrupted = true;
        hanging.interrupt();
      }
    } finally {
      guard.unlock();
    }
  }

  private void stop() {
    try {
      awaitOwnStop();
      if (container.isRunning()) {
        container.stop();
      }
    } catch (RuntimeException | Error e) {
      log.warn("The container of listener '{}' could not be stopped", id, e);
    }
  }

  /**
   * Spring's stops itself after a fatal error, and waits for the handlers of its other consumers. A
   * second stop would return at once meanwhile, and then it would not count as running. The bound
   * is the election's: by default it waits no longer for its listeners.
   */
  private void awaitOwnStop() {
    try {
      for (int looks = 0; looks < MOST_STOPPING_LOOKS && isStopping(); looks++) {
        TimeUnit.MILLISECONDS.sleep(STOPPING_LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** By another thread, as this one holds the lock. */
  private boolean isStopping() {
    return container instanceof AbstractMessageListenerContainer listening
        && listening.isRunning()
        && !listening.isActive();
  }
}
