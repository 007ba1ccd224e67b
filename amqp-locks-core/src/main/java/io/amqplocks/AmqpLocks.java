package io.amqplocks;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Distributed locks on one RabbitMQ broker. Create one for each process and share it. It may be
 * used by any number of threads.
 *
 * <p>It opens connections of its own, each at first use. One of them holds leases. Others hold
 * quorum tokens, look for slots, and wait. When a connection that holds leases breaks, its leases
 * are lost, and the next acquire opens a new one.
 *
 * <p>What is promised: there are never more holders than slots, as the broker sees it. The slots of
 * a dead holder become free by themselves. A holder is notified when its lease is lost.
 *
 * <p>What is not promised: that a holder knows of the loss before the next holder begins. A
 * resource that such an overlap could harm must check for itself, for instance by a {@linkplain
 * AmqpLock#fenced() fencing token}.
 *
 * <p>Applications do not implement this interface, and later versions may add methods to it. For
 * tests without a broker, there is an implementation in {@code amqp-locks-in-memory}.
 */
public interface AmqpLocks extends AutoCloseable {

  /**
   * Begins the settings of an {@code AmqpLocks}.
   *
   * <p>The factory is copied and never changed. The copy keeps the settings that locate the broker
   * and identify the client, with credentials, TLS and SASL. It shares no thread with other
   * connections of the factory and calls none of its listeners. So the connections use blocking
   * I/O, and settings that only NIO or Netty would read have no effect. Set TLS by {@code
   * useSslProtocol} or {@code setSslContextFactory}.
   */
  static AmqpLocksBuilder builder(ConnectionFactory factory) {
    return new AmqpLocksBuilder(factory);
  }

  /**
   * The lock with that id. The method for its kind has the details.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  default AmqpLock lock(LockId id) {
    String name = id.name().value();
    return switch (id.kind()) {
      case MUTEX -> mutex(name);
      case EXCLUSIVE_QUEUE_MUTEX -> exclusiveQueueMutex(name);
      case PERSISTENT_MUTEX -> persistentMutex(name);
      case SLOT_SEMAPHORE -> slotSemaphore(name);
      case TOKEN_SEMAPHORE -> tokenSemaphore(name);
      case FENCED_MUTEX -> fencedMutex(name);
      case READ_LOCK -> readWriteLock(name).readLock();
      case WRITE_LOCK -> readWriteLock(name).writeLock();
    };
  }

  /**
   * The mutex of that name. It does not have to be created. The broker serves the first waiters of
   * all processes in the order of arrival; the next one of a process takes its place in that line
   * when the one before it is served. Its queue at the broker disappears when nobody has held it or
   * waited for it for a minute, so the application may make up names as it runs. Each held mutex,
   * and each mutex with waiters, occupies a channel of the connection, as a persistent mutex does.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock mutex(String name);

  /**
   * The exclusive-queue mutex of that name. It does not have to be created. It is the mutex of the
   * guidelines, for processes that share it with other clients of them. {@link #mutex} is faster.
   * After a break between the nodes of a 3.x cluster, this one has two holders. So has a {@link
   * #mutex} that nobody used in the minute before the break. After a break in a cluster of RabbitMQ
   * 4.3.6, this one may have two holders until the first one's next verification, if it changed
   * hands during the break. Soon after that verification all leases of the first one's {@code
   * AmqpLocks} are lost as well. The two do not work together under one name: the second one to use
   * the name gets an error.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock exclusiveQueueMutex(String name);

  /**
   * The persistent mutex of that name. An administrator must have enabled it. Waiters are served as
   * those of a {@link #mutex} are. Each held one, and each one with waiters, occupies a channel of
   * the connection. One {@code AmqpLocks} can use three quarters of the broker's {@code
   * channel_max} for this, 1,535 by default.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock persistentMutex(String name);

  /**
   * The slot semaphore of that name. Each of its slots is a queue. An administrator must have
   * created it. It and the token semaphore of the same name do not exclude each other. What {@link
   * #exclusiveQueueMutex} says of breaks in a cluster is true of each slot.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock slotSemaphore(String name);

  /**
   * The token semaphore of that name. An administrator must have created it. Each held token, and
   * each waiting call at the head of its FIFO queue, occupies a channel of the connection, as a
   * persistent mutex does.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock tokenSemaphore(String name);

  /**
   * The fenced mutex of that name, the simplest lock whose stale holders a resource can refuse. It
   * needs no creating: its first acquire creates it. Each lease has a fencing token, which comes
   * from the quorum queue that represents the mutex.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpLock fencedMutex(String name);

  /**
   * The read-write lock of that name: many readers or one writer. It does not have to be created.
   * Its queues at the broker disappear when nobody has used it for a minute, so the application may
   * make up names as it runs. Each lease occupies a channel of the connection, as a persistent
   * mutex does, and a write lease two.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  AmqpReadWriteLock readWriteLock(String name);

  /** The administration of locks that outlive their clients, and of fences. */
  LockAdmin admin();

  /**
   * Opens the connection that holds leases if it is not open, and again each other one that held
   * leases and ended. There is no need to call this: the first acquire does the same. It shows
   * whether locks can be acquired, and connects an idle process again after an outage. Waits for
   * two call timeouts at most.
   *
   * @throws LockException.Unreachable if there is no connection to the broker
   * @throws LockException.Refused if the broker refuses the user or the virtual host
   * @throws LockException.Unanswered if the broker does not answer in time
   * @throws LockException.Closed if this {@code AmqpLocks} is closed
   */
  void connect();

  /**
   * The failure of the last attempt to connect, for as long as {@linkplain AmqpLock#failFast()
   * calls that fail fast} throw it without an attempt of their own. Empty while connected, before
   * the first attempt, and as soon as another attempt is due. Sends nothing to the broker and never
   * blocks. An open connection whose broker is silent is not known to be an outage.
   */
  Optional<LockException> outage();

  /** The state of this {@code AmqpLocks}. Sends nothing to the broker and never blocks. */
  LocksStatus status();

  /**
   * The leases of this process, in no particular order. Sends nothing to the broker and never
   * blocks.
   */
  List<LeaseSnapshot> leases();

  /**
   * The number of waiting calls of this process, for each lock that has any. Sends nothing to the
   * broker and never blocks.
   */
  Map<LockId, Integer> waiting();

  /**
   * Revokes all leases of that lock that this process holds. Their holders are notified of a loss
   * with {@link LossReason.Cause#REVOKED}, and the leases are released at the broker. The work that
   * a holder does under its lease continues until it reacts.
   *
   * @param why the reason in words, for the holders
   * @return how many leases there were
   */
  int revoke(LockId lock, String why);

  /**
   * Closes all locks. New acquires are refused, waiting ones end with {@link LockException.Closed},
   * all leases are released, and then the connections are closed. It takes a few call timeouts at
   * most. Closing again does nothing. A listener may close the locks; it and the others are told of
   * what follows when it has returned.
   */
  @Override
  default void close() {
    close(Duration.ZERO);
  }

  /**
   * Closes all locks, like {@link #close()}, but gives holders time to finish. After new acquires
   * are refused, it waits until all leases are released, and then releases the remaining ones.
   *
   * @param timeout how long to wait for the holders; an interrupt ends the wait, and the flag
   *     stays set
   */
  void close(Duration timeout);
}
