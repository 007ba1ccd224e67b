package io.amqplocks.shedlock;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ShedLock's locks, as mutexes on RabbitMQ. It takes the place of the provider for a database. Use
 * one for each {@code AmqpLocks}, from any number of threads.
 *
 * <ul>
 *   <li>{@code lockAtMostFor}: when it is over, this process releases the lock, also if the task
 *       still runs. The time is measured by the process's monotonic clock, from {@link #lock} or
 *       {@code extend} on. If the process dies, the broker releases the lock within seconds, and
 *       nobody has to wait for {@code lockAtMostFor}.
 *   <li>{@code lockAtLeastFor}: nobody gets the lock before it is over, also if the process dies or
 *       the broker restarts. The broker measures it, from a moment within {@link #lock} or {@code
 *       extend} on. Not promised: that it is kept by a process that dies in the moment in which an
 *       {@code extend} makes it shorter and an older one expires.
 *   <li>The lock is lost together with the connection that holds it, however long {@code
 *       lockAtMostFor} is. ShedLock has no way to tell a running job. When the job ends, a WARN
 *       says that another node may have run it meanwhile. A {@code lockAtLeastFor} still keeps
 *       others out.
 *   <li>{@code extend} works while the lock is held, and returns empty afterwards. While the broker
 *       does not answer, {@code lockAtMostFor} is extended, since this process measures it. The
 *       broker measures {@code lockAtLeastFor}: if it cannot be changed then, a WARN says so. The
 *       old one still keeps the lock, as a rule. A minimum that is made shorter may last up to a
 *       second longer. ShedLock's {@code KeepAliveLockProvider} may wrap this provider.
 * </ul>
 *
 * <p>For {@code lockAtLeastFor}, each lock's name has a durable queue at the broker that stays, as
 * it has a row in ShedLock's table. It is named {@code <queue prefix>shedlock.<name>}. The broker
 * may lose it together with a node's disk. Whoever deletes or purges it ends the {@code
 * lockAtLeastFor}. The user of the connection factory needs {@code configure} and {@code read} on
 * it, and {@code write} on {@code amq.default}.
 */
public final class AmqpLockProvider implements ExtensibleLockProvider, AutoCloseable {

  // Only the holder of the mutex reads or writes its name's markers, so nothing here is shared but
  // the connection of Markers and the timer of Expiry, which say themselves why they are correct.

  /** The queue prefix, if the constructor was not told. It is the one of {@code AmqpLocks}. */
  public static final String DEFAULT_QUEUE_PREFIX = "amqp-locks.";

  private static final Logger log = LoggerFactory.getLogger(AmqpLockProvider.class);

  private final AmqpLocks locks;
  private final Markers markers;
  private final Expiry expiry = new Expiry();

  /**
   * Creates a provider with the default queue prefix.
   *
   * @param locks has the mutexes
   * @param factory for a connection for {@code lockAtLeastFor}, to the broker of {@code locks}. It
   *     is copied and never changed.
   */
  public AmqpLockProvider(AmqpLocks locks, ConnectionFactory factory) {
    this(locks, factory, List.of(), DEFAULT_QUEUE_PREFIX);
  }

  /**
   * Creates a provider.
   *
   * @param locks has the mutexes
   * @param factory for a connection for {@code lockAtLeastFor}, to the broker of {@code locks}. It
   *     is copied and never changed.
   * @param nodes the nodes of the broker; if empty, the factory's host and port
   * @param queuePrefix the queue prefix that {@code locks} was built with
   * @throws LockException.Invalid if no {@code AmqpLocks} can have that queue prefix
   */
  public AmqpLockProvider(
      AmqpLocks locks, ConnectionFactory factory, List<Address> nodes, String queuePrefix) {
    this.locks = locks;
    this.markers = new Markers(factory, nodes, queuePrefix);
  }

  /**
   * Acquires the lock if nobody holds it and no {@code lockAtLeastFor} forbids it. It does not
   * wait.
   *
   * @return the lock, or empty if it is not free. Empty also if {@code lockAtMostFor} is over
   *     before this call returns, and if nobody can say whether the lock was lost meanwhile
   * @throws LockException.Invalid if the name is no valid {@link LockName} of up to 191 bytes, or
   *     {@code lockAtLeastFor} is longer than 49 days
   * @throws LockException.Conflict if somebody deletes the lock's queue meanwhile; nothing is held
   *     then
   * @throws LockException.Unsupported if the broker has no queue for that, as Apache Qpid has none
   * @throws LockException.Closed if this provider is closed, and nobody holds the lock
   * @throws LockException as {@link io.amqplocks.lock.AmqpLock#tryAcquire()} does. Nothing is held
   *     then. But after {@link LockException.Unreachable} and {@link LockException.Unanswered}, the
   *     broker may have what keeps the lock for {@code lockAtLeastFor}: nobody gets it before that
   *     is over, though nobody has run its job
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration wanted) {
    LockId id = LockId.mutex("shedlock:" + wanted.getName());
    try {
      return lock(id, wanted);
    } catch (LockException e) {
      e.initLock(id);
      throw e;
    }
  }

  private Optional<SimpleLock> lock(LockId id, LockConfiguration wanted) {
    String name = wanted.getName();
    Markers.check(name, wanted.getLockAtLeastFor());
    Optional<Lease> acquired = locks.lock(id).tryAcquire();
    if (acquired.isEmpty()) {
      return Optional.empty();
    }
    Lease lease = acquired.get();
    boolean kept = false;
    try {
      long began = System.nanoTime();
      // The marker is there before the task begins, so a crash cannot come before it.
      if (!markers.markUnlessMarked(name, wanted.getLockAtLeastFor())) {
        return Optional.empty();
      }
      ExpiringLease expiring = new ExpiringLease(lease, began, wanted.getLockAtMostFor());
      if (!expiring.isHeld()) {
        giveUp(wanted, lease);
        return Optional.empty();
      }
      expiry.watch(expiring, lease);
      kept = true;
      return Optional.of(
          new AmqpSimpleLock(
              wanted, markers, expiring, new Minimum(wanted.getLockAtLeastFor(), began, true)));
    } finally {
      if (!kept) {
        lease.close();
      }
    }
  }

  /**
   * Removes the marker of a lock that is not given, since nobody has run its job. A lease that is
   * in doubt leaves the marker: another one may hold the lock by now, and the marker may be its.
   */
  private void giveUp(LockConfiguration wanted, Lease lease) {
    if (lease.state() == LeaseState.HELD) {
      log.warn(
          "The lock '{}' is not given, because lockAtMostFor ({}) was over before the broker had answered",
          wanted.getName(),
          wanted.getLockAtMostFor());
      if (!wanted.getLockAtLeastFor().isZero()) {
        markers.replace(wanted.getName(), Duration.ZERO);
      }
    }
  }

  /**
   * Closes the connection for {@code lockAtLeastFor}. Locks that are held stay so until they are
   * unlocked, and are not released at {@code lockAtMostFor} any more. The same goes for one whose
   * {@link #lock} is about to return. So close it after the tasks have ended. The {@code AmqpLocks}
   * may be closed before or after it.
   */
  @Override
  public void close() {
    expiry.close();
    markers.close();
  }
}
