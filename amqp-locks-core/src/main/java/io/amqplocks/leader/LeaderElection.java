package io.amqplocks.leader;

import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Elects a leader among all processes that contend for a mutex. It contends until it is closed:
 * after a loss or an outage it tries again.
 *
 * <pre>{@code
 * try (LeaderElection election =
 *     LeaderElection.on(locks.mutex("scheduler").fenced())
 *         .task(leadership -> scheduleUntilInterrupted(leadership))
 *         .build()) {
 *   election.start();
 *   ...
 * }
 * }</pre>
 *
 * <p>An election promises as much as its mutex: as the broker sees it there is one leader, and the
 * leadership of a dead process becomes free by itself. A leader that cannot be sure does not say
 * that it leads: {@link #isLeader()} is false, and the term is over. A leader that gives leadership
 * up stops first: its listeners and its task have ended, or had their grace period, before the next
 * leader begins.
 *
 * <p>A leader may learn of a loss after the next one has begun. A resource that such an overlap
 * could harm must check the {@linkplain Leadership#fencingToken() fencing token}.
 *
 * <p>The mutex decides who is next: for {@code locks.mutex(name)} the process that has contended
 * for longest. On a lock with {@linkplain AmqpLock#withPriority priorities}, the process with the
 * highest priority is next; a priority takes leadership from nobody. {@link AmqpLock#holdAtMost}
 * limits each term.
 *
 * <p>Concurrency: the contending thread alone acquires, begins terms, has their listeners notified
 * and releases, one after the other, so terms never overlap and each has one grant and one
 * revocation. If it fails while it waits for the end of a term, even by an Error, it revokes the
 * term all the same. It acquires nothing before the listeners and the task of the last term have
 * ended, however that term went. All others only set flags, or end the present term, under the
 * guard and signal it. The first reason of an end stays. A term is ended before its listeners are
 * notified and its lock is released. {@link #isLeader()} also reads the lease's state, so it is
 * false as soon as the lease is in doubt, and ends the term then.
 */
// More than 300 lines: half of them are the contract.
public final class LeaderElection implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(LeaderElection.class);

  /**
   * Practically without limit: whoever asks again goes to the back of the queue, behind those that
   * have contended for less long. The wait needs no shorter bound. Each request within it has one,
   * a broken connection is noticed in it, and a close interrupts it.
   */
  private static final Duration LONG = Duration.ofDays(36_500);

  /** How often a leader looks whether its lease is in doubt, which nobody tells it. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How long a close waits for the broker, beside the grace period. */
  private static final long RELEASE_MILLIS = 10_000;

  private final AmqpLock lock;
  private final long graceNanos;
  private final long yieldPauseNanos;
  private final TermCallbacks callbacks;
  private final Thread contender;

  private final ReentrantLock guard = new ReentrantLock();
  private final Condition changed = guard.newCondition();
  private boolean started;
  private boolean closing;
  private boolean acquiring;

  /** For the contender, if the lock was acquired before it began. */
  private @Nullable Lease first;

  private volatile @Nullable Leadership current;

  LeaderElection(LeaderElectionBuilder settings) {
    lock = settings.lock;
    graceNanos = TimeUnit.NANOSECONDS.convert(settings.grace);
    yieldPauseNanos = TimeUnit.NANOSECONDS.convert(settings.yieldPause);
    String name = "amqp-locks leader " + lock.id().name();
    callbacks = new TermCallbacks(name, settings.listeners, settings.task, this::taskEnded);
    contender = new Thread(this::contend, name);
    contender.setDaemon(true);
  }

  /**
   * Begins the settings of an election.
   *
   * @param lock a mutex of any kind; all processes that give the same one elect one leader
   * @throws LockException.Invalid if it is a semaphore, or a side of a read-write lock
   */
  public static LeaderElectionBuilder on(AmqpLock lock) {
    return new LeaderElectionBuilder(lock);
  }

  /** The lock that stands for the leadership. */
  public LockId lock() {
    return lock.id();
  }

  /**
   * Begins to contend, and returns at once. A broker that cannot be reached is tried again and
   * again, with pauses of up to 10 seconds and a WARN for each new reason. Starting again does
   * nothing.
   *
   * @throws IllegalStateException if this election is closed
   */
  public void start() {
    guard.lock();
    try {
      requireOpen();
      if (!started) {
        startContender(null);
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * Starts this election if nobody leads right now: its first term begins. Otherwise it is as if
   * this had not been called, and {@link #start()} may follow. It asks the broker once, within the
   * bound of {@link AmqpLock#tryAcquire()}.
   *
   * @return whether it started
   * @throws IllegalStateException if this election has been started or closed before
   * @throws LockException as {@link AmqpLock#tryAcquire()} does
   */
  public boolean tryStart() {
    requireNotStarted();
    Lease lease = lock.tryAcquire().orElse(null);
    if (lease == null) {
      return false;
    }
    boolean begun = false;
    try {
      begun = startWith(lease);
    } finally {
      if (!begun) {
        lease.close();
      }
    }
    return true;
  }

  private boolean startWith(Lease lease) {
    guard.lock();
    try {
      requireNotStarted();
      startContender(lease);
      return true;
    } finally {
      guard.unlock();
    }
  }

  /** Under the guard. If the thread cannot be started, nothing has changed. */
  private void startContender(@Nullable Lease acquired) {
    first = acquired;
    contender.start();
    started = true;
  }

  private void requireNotStarted() {
    guard.lock();
    try {
      requireOpen();
      if (started) {
        throw new IllegalStateException("The election by the " + lock.id() + " has been started");
      }
    } finally {
      guard.unlock();
    }
  }

  private void requireOpen() {
    if (closing) {
      throw new IllegalStateException("The election by the " + lock.id() + " is closed");
    }
  }

  /**
   * Adds a listener. Listeners are called in the order in which they were added. If one is added
   * during a term, it is notified of that term's end, and of all later terms.
   */
  public void addListener(LeaderListener listener) {
    callbacks.add(listener);
  }

  /**
   * Removes a listener: it is notified of nothing any more, except of what it is being notified of
   * just now. Does nothing if the listener was not added.
   */
  public void removeListener(LeaderListener listener) {
    callbacks.remove(listener);
  }

  /** Whether this process certainly leads. Never blocks, and asks nobody. */
  public boolean isLeader() {
    return leadership().isPresent();
  }

  /** The present term, if this process certainly leads. Never blocks, and asks nobody. */
  public Optional<Leadership> leadership() {
    return Optional.ofNullable(current).filter(Leadership::isCurrent);
  }

  /**
   * Waits until this process leads.
   *
   * @return the term; empty if the time is over or the election was closed before
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public Optional<Leadership> awaitLeadership(Duration time) throws InterruptedException {
    long left = TimeUnit.NANOSECONDS.convert(time);
    guard.lockInterruptibly();
    try {
      // Each look may end the term, so the one that is returned is the one that ended the wait.
      Optional<Leadership> now = leadership();
      while (now.isEmpty() && !closing && left > 0) {
        left = changed.awaitNanos(left);
        now = leadership();
      }
      return now;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Gives leadership up, so that others go first: this process contends again after the {@linkplain
   * LeaderElectionBuilder#yieldPause pause}. If nobody else contends then, it leads again. Returns
   * at once; listeners are notified when the term has ended.
   *
   * @return whether there was a term to end
   */
  public boolean yieldLeadership() {
    return yieldLeadership("the leader yielded");
  }

  /**
   * Gives leadership up as {@link #yieldLeadership()} does, with a reason for listeners and logs.
   *
   * @param why the reason in words
   * @return whether there was a term to end
   */
  public boolean yieldLeadership(String why) {
    return end(current, new Revocation(Cause.YIELDED, why));
  }

  private void taskEnded(Leadership term, String how) {
    boolean unused = end(term, new Revocation(Cause.TASK_ENDED, how));
  }

  private boolean end(@Nullable Leadership term, Revocation why) {
    guard.lock();
    try {
      if (term == null || !term.equals(current) || term.revocation().isPresent()) {
        return false;
      }
      term.end(why);
      changed.signalAll();
      return true;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Stops contending. If this process leads, its term ends first: the task is interrupted,
   * listeners are notified, and the lock is released when they have ended or after the grace
   * period. Returns when that is done, or 10 seconds after the grace period. If the calling thread
   * is interrupted, it returns at once, stays interrupted, and the rest is done without it. A call
   * by a listener or by the task returns at once. Closing again does nothing.
   *
   * <p>Close the election before the {@code AmqpLocks} of its lock. Otherwise the lock is released
   * while the task still runs.
   */
  @Override
  public void close() {
    boolean contends;
    guard.lock();
    try {
      closing = true;
      contends = started;
      Leadership term = current;
      if (term != null) {
        // Here, and not when the contender has noticed: whoever closes leads no more.
        Revocation unused = endByClose(term);
      }
      if (acquiring) {
        contender.interrupt();
      }
      changed.signalAll();
    } finally {
      guard.unlock();
    }
    if (!contends) {
      callbacks.close();
    } else if (!callbacks.isOwnThread(Thread.currentThread())) {
      awaitEndOfContender();
    }
  }

  /**
   * Whether that thread is one that calls a listener or the task of this election, also while it
   * calls none. {@link #close()} does not wait when it is called on such a thread. Any thread may
   * ask, at any time.
   *
   * @param thread the thread, such as the present one
   * @return whether it is one of this election's
   */
  public boolean isOwnThread(Thread thread) {
    return callbacks.isOwnThread(thread);
  }

  private void awaitEndOfContender() {
    try {
      contender.join(TimeUnit.NANOSECONDS.toMillis(graceNanos) + RELEASE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void contend() {
    ContendingFailures failures = new ContendingFailures(lock.id());
    try {
      do {
        tryTerm(failures);
      } while (!isClosing());
    } catch (LockException.Closed e) {
      log.info("The election by the {} ends: {}", lock.id(), e.getMessage());
    } finally {
      callbacks.close();
      signalClosed();
    }
  }

  /** One term or one attempt. After a failure of any kind it pauses, so that it is tried again. */
  private void tryTerm(ContendingFailures failures) {
    try {
      callbacks.prepare();
      awaitNobodyAtWork();
      Lease lease = first == null ? acquire() : first;
      first = null;
      if (lease != null) {
        failures.end();
        lead(lease);
      }
    } catch (LockException.Closed e) {
      throw e;
    } catch (RuntimeException | Error e) {
      pause(failures.add(e));
    }
  }

  private void signalClosed() {
    guard.lock();
    try {
      closing = true;
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  private boolean isClosing() {
    guard.lock();
    try {
      return closing;
    } finally {
      guard.unlock();
    }
  }

  /** The lease; null if it must be asked whether to go on. */
  private @Nullable Lease acquire() {
    if (!setAcquiring(true)) {
      return null;
    }
    try {
      return lock.acquire(LONG);
    } catch (InterruptedException | LockException.Interrupted | LockException.AcquireTimeout e) {
      return null;
    } finally {
      boolean unused = setAcquiring(false);
    }
  }

  /** Whether a close interrupts the contender. Returns false if there is a close already. */
  private boolean setAcquiring(boolean now) {
    guard.lock();
    try {
      acquiring = now;
      if (!now) {
        // Of a close that came just then: closing says the same.
        boolean unused = Thread.interrupted();
      }
      return !closing;
    } finally {
      guard.unlock();
    }
  }

  /**
   * Before each term: nothing of the last one is left. Not at the end of that one, which may fail
   * anywhere.
   */
  private void awaitNobodyAtWork() {
    while (!callbacks.areIdle() && !isClosing()) {
      pause(LOOK_NANOS);
    }
  }

  private void lead(Lease lease) {
    Leadership term = new Leadership(lease);
    Revocation why;
    try (lease) {
      if (!begin(term)) {
        return;
      }
      why = serve(term);
    } finally {
      current = null;
    }
    if (why.cause() == Cause.YIELDED || why.cause() == Cause.TASK_ENDED) {
      // Others have their turn.
      pause(yieldPauseNanos);
    }
  }

  /** From the grant to the end of the revocation. Whatever fails, what was granted is revoked. */
  private Revocation serve(Leadership term) {
    Revocation why;
    boolean granted = false;
    try {
      log.info("This process leads: {}", term);
      callbacks.granted(term);
      granted = true;
      why = awaitEnd(term);
      log.info("This process does not lead by the {} any more: {}", lock.id(), why);
    } catch (RuntimeException | Error e) {
      // Nobody watches the lease any more, and the listeners and the task would go on.
      Revocation failed = term.end(new Revocation(Cause.UNCERTAIN, "the election failed: " + e));
      if (granted) {
        revoke(term, failed);
      }
      throw e;
    }
    revoke(term, why);
    return why;
  }

  private void revoke(Leadership term, Revocation why) {
    if (!callbacks.revoked(term, why, graceNanos)) {
      log.warn(
          "The listeners or the task of the election by the {} have not ended within {} ms; its lock is released all the same",
          lock.id(),
          TimeUnit.NANOSECONDS.toMillis(graceNanos));
    }
  }

  private boolean begin(Leadership term) {
    guard.lock();
    try {
      if (closing) {
        return false;
      }
      term.lease().whenLost().thenRun(this::signal);
      current = term;
      changed.signalAll();
      return true;
    } finally {
      guard.unlock();
    }
  }

  private void signal() {
    guard.lock();
    try {
      changed.signalAll();
    } finally {
      guard.unlock();
    }
  }

  /** Waits for a reason to end the term, and ends it. */
  private Revocation awaitEnd(Leadership term) {
    guard.lock();
    try {
      Optional<Revocation> why = reason(term);
      while (why.isEmpty()) {
        long unused = awaitSignal(LOOK_NANOS);
        why = reason(term);
      }
      return why.get();
    } finally {
      current = null;
      guard.unlock();
    }
  }

  private Optional<Revocation> reason(Leadership term) {
    return closing ? Optional.of(endByClose(term)) : term.endIfNotHeld();
  }

  private static Revocation endByClose(Leadership term) {
    return term.end(new Revocation(Cause.CLOSED, "the election was closed"));
  }

  /** Unless it is closed meanwhile. */
  private void pause(long nanos) {
    guard.lock();
    try {
      long left = nanos;
      while (left > 0 && !closing) {
        left = awaitSignal(left);
      }
    } finally {
      guard.unlock();
    }
  }

  /**
   * Nobody but a close interrupts the contender, and that sets a flag too. For callers that look at
   * the flags in a loop.
   */
  @SuppressWarnings("WaitNotInLoop")
  private long awaitSignal(long nanos) {
    try {
      return changed.awaitNanos(nanos);
    } catch (InterruptedException e) {
      return nanos; // the caller looks at the flags
    }
  }
}
