package io.amqplocks.inmemory;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Locks in the memory of this process, for tests of code that uses {@link AmqpLocks}. They need no
 * broker. A test can make a lock busy, a lease lost and the broker unavailable.
 *
 * <p>What is promised: there are never more leases than slots, except of slots that an
 * administrator removed, until they are verified or closed. Beside the writer of a read-write lock
 * nobody has a lease of it. Waiters are served in the order of arrival, over both sides of a
 * read-write lock, and by priority where a lock has priorities. Messages of exceptions that mention
 * neither a broker nor a queue are the same as at a broker.
 *
 * <p>What is not promised: two {@code InMemoryLocks} share nothing, even in one process. There is
 * no broker behaviour: no round trips, no hand-over between processes, and no conflict between a
 * mutex and an exclusive-queue mutex of one name. Nobody verifies leases but {@link
 * Lease#verify()}. {@link AmqpLock#unfair()} makes no difference. A call for one permit never
 * overtakes one for several that waits. A reader never overtakes a writer, even if readers of its
 * process came before the writer and still wait. Each slot of each key has a fence of its own.
 *
 * <p>Time is real time, and {@link #advance} makes it jump ahead. That is the time of all waits, of
 * {@link AmqpLock#holdAtMost} and of ages. With {@link InMemoryLocksBuilder#timeStandsStill()} it
 * goes on by {@code advance} only. {@link #close(Duration)}, the waits of the administration
 * and the starter's {@code holdAtLeast} always take real time.
 *
 * <p>When {@link #advance}, {@link #lose}, {@link #unavailable}, {@link #available} and {@link
 * #busy} return, {@link Lease#state()}, {@link #waiting()}, {@link #leases()} and {@link
 * #history()} show what came of it. Futures, listeners, {@link Lease#whenLost()} and blocked
 * threads follow on other threads: a test must wait for them.
 */
public final class InMemoryLocks implements AmqpLocks {

  private final LockTable table;
  private final Time time;
  private final Notices notices;

  /** Its threads end when they have nothing to do. Results may be late, so it is never closed. */
  private final ExecutorService results =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          Threads.named("results"));

  InMemoryLocks(InMemoryLocksBuilder settings) {
    time = new Time(settings.timeStandsStill);
    notices = new Notices(settings.listeners, settings.observers);
    table = new LockTable(time, notices);
  }

  /** Creates locks in real time, without listeners. */
  public static InMemoryLocks create() {
    return builder().build();
  }

  /** Begins the settings of locks. */
  public static InMemoryLocksBuilder builder() {
    return new InMemoryLocksBuilder();
  }

  /** What {@link #busy} has occupied, until it is closed. */
  public interface Occupation extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Makes that lock busy. Another holder, which is not in {@link #leases()}, takes all free slots
   * of that lock, and those that come free later, until the result is closed. When the close
   * returns, the first waiters have their slots. Their futures and threads follow.
   *
   * <p>The other holder of a write lock is a writer. Nobody acquires either side until it is
   * closed, and nobody who waits comes before it. The other holder of a read lock is a reader. No
   * writer acquires the lock, but readers do, unless a writer waits.
   */
  public Occupation busy(LockId lock) {
    occupy(lock, 1);
    return new Occupation() {
      private boolean over;

      @Override
      public synchronized void close() {
        if (!over) {
          over = true;
          occupy(lock, -1);
        }
      }

      @Override
      public String toString() {
        return "another holder of the " + lock;
      }
    };
  }

  private void occupy(LockId lock, int more) {
    int unused =
        table.change(
            effects -> {
              table.of(lock).occupy(lock, more);
              table.serve(lock, effects);
              return more;
            });
  }

  /**
   * Takes that lease from its holder. When this returns, the lease is LOST and the first waiter has
   * its slots. Listeners, {@link Lease#whenLost()} and the waiter's thread follow. Does nothing if
   * the lease has ended.
   */
  public void lose(Lease lease, LossReason reason) {
    boolean unused = table.change(effects -> table.lose(own(lease), reason, effects));
  }

  /**
   * Takes all leases of that lock from their holders, as {@link #lose(Lease, LossReason)} does. For
   * leases that the test does not have, such as that of an annotated method.
   *
   * @return how many there were
   */
  public int lose(LockId lock, LossReason reason) {
    return table.loseAll(lock, reason);
  }

  /**
   * Makes that lease UNCERTAIN. {@link Lease#verify()} also returns UNCERTAIN until {@link
   * #certain} is called.
   */
  public void uncertain(Lease lease) {
    table.doubt(own(lease), true);
  }

  /**
   * Makes all leases of that lock UNCERTAIN, as {@link #uncertain(Lease)} does.
   *
   * @return how many there are
   */
  public int uncertain(LockId lock) {
    return table.doubtAll(lock, true);
  }

  /** Makes that lease HELD again, unless it has ended. */
  public void certain(Lease lease) {
    table.doubt(own(lease), false);
  }

  /**
   * Makes all leases of that lock HELD again.
   *
   * @return how many there are
   */
  public int certain(LockId lock) {
    return table.doubtAll(lock, false);
  }

  private InMemoryLease own(Lease lease) {
    if (lease instanceof InMemoryLease mine && mine.isOf(table)) {
      return mine;
    }
    throw new IllegalArgumentException(
        "The %s is of other locks, or a view of one of these, as annotated methods and Kotlin's withLease may have it; use its lock instead of it, the %s"
            .formatted(lease, lease.lock()));
  }

  /**
   * Breaks the connection. When this returns, all leases are LOST by {@link
   * LossReason.Cause#SESSION_ENDED}, and listeners and {@link Lease#whenLost()} follow.
   *
   * <p>Calls throw {@link LockException.Unreachable} when their time is over. They do so at once if
   * they fail fast or would not wait, or if no connection was ever opened, which the first acquire,
   * {@link #connect()} and the administration do.
   *
   * <p>Nothing else tries to connect here, so {@link #outage()} is present at once, as at a broker
   * after an attempt that failed. It stays so until {@link #available()}.
   */
  public void unavailable() {
    table.setAvailable(false);
  }

  /**
   * Ends the outage. When this returns, those who wait have what is free. Their futures and threads
   * follow.
   */
  public void available() {
    table.setAvailable(true);
  }

  /**
   * Makes the time jump ahead. When this returns, everything that was due has happened, in its
   * order and at its time. The user's code does not run in between: futures, listeners, {@link
   * Lease#whenLost()} and blocked threads follow on other threads.
   */
  public void advance(Duration jump) {
    if (jump.isNegative()) {
      throw new IllegalArgumentException(
          "Time cannot go back by %s; use zero or more".formatted(jump));
    }
    time.advance(jump);
    table.settle();
  }

  /** All leases that were acquired, in their order. */
  public List<Acquisition> history() {
    return table.history();
  }

  /** How many slots of that lock, or leases of that read lock, were held at once at most. */
  public int mostHeldAtOnce(LockId lock) {
    return table.change(effects -> table.of(lock).mostHeldAtOnce(lock));
  }

  @Override
  public AmqpLock mutex(String name) {
    return lock(LockId.mutex(name));
  }

  @Override
  public AmqpLock exclusiveQueueMutex(String name) {
    return lock(LockId.exclusiveQueueMutex(name));
  }

  @Override
  public AmqpLock persistentMutex(String name) {
    return lock(LockId.persistentMutex(name));
  }

  @Override
  public AmqpLock slotSemaphore(String name) {
    return lock(LockId.slotSemaphore(name));
  }

  @Override
  public AmqpLock tokenSemaphore(String name) {
    return lock(LockId.tokenSemaphore(name));
  }

  @Override
  public AmqpLock fencedMutex(String name) {
    return lock(LockId.fencedMutex(name));
  }

  @Override
  public AmqpReadWriteLock readWriteLock(String name) {
    return new AmqpReadWriteLock(lock(LockId.readLock(name)), lock(LockId.writeLock(name)));
  }

  @Override
  public AmqpLock lock(LockId id) {
    return new InMemoryLock(id, Request.PLAIN, table, results);
  }

  /**
   * The administration. It has no audits, no sweeps and no counters of keys: these methods throw
   * {@link UnsupportedOperationException}.
   */
  @Override
  public LockAdmin admin() {
    return new InMemoryAdmin(table);
  }

  @Override
  public void connect() {
    boolean unused =
        table.change(
            effects -> {
              table.connection().require(null);
              return true;
            });
  }

  @Override
  public Optional<LockException> outage() {
    return table.change(effects -> Optional.ofNullable(table.connection().outage(null)));
  }

  @Override
  public LocksStatus status() {
    List<LeaseSnapshot> held = leases();
    Optional<LockTable.Loss> loss = table.lastLoss();
    return new LocksStatus(
        table.connection().session(),
        false,
        held.size(),
        (int) held.stream().filter(lease -> lease.state() == LeaseState.UNCERTAIN).count(),
        waiting().values().stream().mapToInt(Integer::intValue).sum(),
        loss.map(LockTable.Loss::what),
        loss.map(LockTable.Loss::when).map(InMemoryLocks::rounded));
  }

  private static Instant rounded(Instant instant) {
    return instant.truncatedTo(ChronoUnit.MILLIS);
  }

  @Override
  public List<LeaseSnapshot> leases() {
    return table.leases().stream().map(InMemoryLease::snapshot).toList();
  }

  @Override
  public Map<LockId, Integer> waiting() {
    return table.waiting();
  }

  @Override
  public int revoke(LockId lock, String why) {
    return table.loseAll(lock, new LossReason(LossReason.Cause.REVOKED, why));
  }

  @Override
  public void close(Duration timeout) {
    String unused = end(timeout);
  }

  /** The leases that are held, in words. Empty if there are none. */
  String held() {
    return HeldLeases.lines(table.leases());
  }

  /** Closes the locks. Returns what was not released in that time, in words; empty if all was. */
  String end(Duration timeout) {
    if (!table.refuse()) {
      return "";
    }
    String left = table.close(timeout);
    notices.close();
    return left;
  }
}
