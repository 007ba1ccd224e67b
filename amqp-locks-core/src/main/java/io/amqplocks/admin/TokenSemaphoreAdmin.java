package io.amqplocks.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.TokenNaming;
import java.time.Duration;

/**
 * Administers one token semaphore, as described in the blog post. Its slots are messages in one
 * durable queue. A slot is held by receiving its message without acknowledging it.
 *
 * <p>Methods may be called from any process at any time. Changes are made one at a time; another
 * administrator waits for at most 30 s. Each change may be repeated after a crash at any step, and
 * never creates more tokens than slots. Tokens that are uncertain after a crash are left out, and
 * are shown by {@link #status()} until {@link #repair} settles them. No method waits for holders,
 * except {@link #audit}, {@link #repair} and {@link #awaitWithdrawn}, which take a time for it.
 *
 * <p>All methods throw {@link LockException.Unreachable} if there is no connection to the broker,
 * {@link LockException.Refused} if it refuses, and {@link LockException.Unanswered} if it does not
 * reply in time. Methods that change something also throw {@link LockException.AcquireTimeout} if
 * another administrator takes too long.
 */
public interface TokenSemaphoreAdmin extends SemaphoreAdmin {

  /**
   * Creates the semaphore, or confirms that it exists with that number of slots and that type.
   *
   * @param slots the number of slots, 1 to {@link #MAX_SLOTS}
   * @param type the type of its queue
   * @throws LockException.Conflict if it exists with another number of slots or on another type of
   *     queue; it is left unchanged
   * @throws LockException.Invalid if the number is out of range
   */
  void create(int slots, TokenQueueType type);

  /**
   * Creates the semaphore unless it exists. The slots and the type of an existing semaphore are not
   * changed.
   *
   * @return the present number of slots
   */
  int createIfAbsent(int slots, TokenQueueType type);

  /**
   * Creates the semaphore on a quorum queue unless it exists. The slots and the type of an existing
   * semaphore are not changed.
   */
  @Override
  default int createIfAbsent(int slots) {
    return createIfAbsent(slots, TokenQueueType.QUORUM);
  }

  /**
   * Sets the number of slots of an existing semaphore. Growing takes effect at once. Shrinking
   * removes idle tokens at once, and tokens in use as they come back. This process removes those
   * for as long as it lives, before any waiter gets them. {@link TokenStatus#pendingWithdrawals()}
   * is the number that remains. If this process ends earlier, call this method again from any
   * other.
   *
   * <p>If more tokens are idle than there can be, because somebody else published some, the surplus
   * is removed. Surplus tokens that are in use, and tokens that others removed, are not detected
   * here. Then the {@linkplain #status() status} counts by the record, and {@link #audit} finds the
   * real number.
   *
   * @param slots the new number of slots, 1 to {@link #MAX_SLOTS}
   * @throws LockException.NotFound if the semaphore does not exist
   */
  @Override
  SlotChange resize(int slots);

  /**
   * Removes the semaphore with all of its tokens. Waiting calls end with {@link
   * LockException.NotFound}. Holders lose their leases at the next verification. In the plain
   * protocol ({@link TokenNaming}) they do so only if the queue was not created again before, so
   * wait for that long.
   *
   * <p>The semaphore's record and ledger are deleted too. They ensure that generations and epochs
   * only rise. So these two small queues remain if tokens were created within the last hour, or
   * more often than once a minute for a long time. Destroying the semaphore again later removes
   * them.
   */
  @Override
  void destroy();

  /** The number of slots; 0 if the semaphore does not exist. */
  @Override
  default int count() {
    return status().slots();
  }

  /** How many tokens are in use or lost: all that are not in the queue. */
  @Override
  default int inUse() {
    return status().inUse();
  }

  /** The state of the semaphore, in a few round trips. It takes no token from anybody. */
  TokenStatus status();

  /**
   * Waits until no token is left to be withdrawn. If a crash interrupted the creation or withdrawal
   * of a token, that token may remain until {@link #resize} or {@link #repair} settles it. What it
   * sees is confirmed in the administrators' turn. So it may take longer than that time while
   * another administrator is at work.
   *
   * @return false if some are left when the time is over
   * @throws LockException.AcquireTimeout if another administrator was at work for too long
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitWithdrawn(Duration wait) throws InterruptedException;

  /**
   * Counts the tokens by receiving each of them once: the idle ones at once, and those in use as
   * they come back. Meanwhile nobody can acquire. All tokens are put back at the end, also if this
   * process dies. The audit changes nothing.
   *
   * <p>It takes all of the given time, because a surplus token may be in use. It ends earlier only
   * if the queue is a quorum queue, all tokens were seen, and nobody else holds or waits there.
   *
   * <p>While another administrator moves the tokens to another queue, it waits for that as well,
   * for 30 s at most. If the semaphore moves, or the process of a classic queue dies, the audit
   * begins anew, with all of the given time.
   *
   * @param timeout how long to wait for tokens in use; zero to look at the idle ones only
   * @throws LockException.AcquireTimeout if another administrator was at work for too long
   * @throws LockException.Unanswered if that happened five times
   */
  TokenAudit audit(Duration timeout);

  /**
   * Audits, and then repairs what is wrong. Surplus messages are removed. If tokens are outstanding
   * when the time is over, the semaphore moves to a new queue with all of its slots, and the old
   * queue is deleted. The holder of an outstanding token loses its lease, and is notified at its
   * next verification. Until then it may overlap with a new holder. So wait for longer than any
   * holder holds, or use fencing tokens.
   *
   * <p>Surplus messages are put back for a moment, and removed if they come again. If some do not,
   * the answer tells of the surplus and that it is not repaired: the broker had sent a message
   * twice, or somebody else has it by now. Then repair again.
   *
   * <p>It begins anew for the reasons that an audit does.
   *
   * @param timeout how long to wait for tokens in use
   * @throws LockException.Unanswered if that happened five times
   */
  TokenAudit repair(Duration timeout);
}
