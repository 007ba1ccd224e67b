package io.amqplocks.lock;

import java.time.Duration;

/**
 * Administration of one token semaphore, as seed 000 has it: its slots are messages in one durable
 * queue, and to hold one is to have received it without acknowledging it.
 *
 * <p>Calls may be made from any process at any time. Those that change something do it one at a time;
 * another administrator waits for 30 s at most. Each may be made again after a crash at any step, and
 * never makes more tokens than slots: what is uncertain after a crash is left out and shown by {@link
 * #status()}, until {@link #repair} settles it. None waits for holders, but for {@link #audit}, {@link
 * #repair} and {@link #awaitWithdrawn}, which take the time to.
 *
 * <p>All of them throw {@link LockException.Unreachable}, {@link LockException.Refused} or {@link
 * LockException.Unanswered} when the broker is not to be had, refuses, or does not answer; those that
 * change something also {@link LockException.AcquireTimeout} if another administrator is at work for
 * too long.
 */
public interface TokenSemaphoreAdmin {

  /** The most slots that a token semaphore may have. */
  int MAX_SLOTS = 10_000;

  /**
   * Creates the semaphore, or finds it as wanted.
   *
   * @param slots how many holders at once, 1 to {@link #MAX_SLOTS}
   * @throws LockException.Conflict if it exists with another number of slots, or on another type of
   *     queue; it is left as it is
   * @throws LockException.Invalid if the number is out of range
   */
  void create(int slots, TokenQueueType type);

  /**
   * Creates the semaphore unless it exists; then its number of slots and type are adopted.
   *
   * @return how many slots it has now
   */
  int createIfAbsent(int slots, TokenQueueType type);

  /**
   * Gives an existing semaphore that many slots. Growing takes effect at once. Shrinking takes idle
   * tokens at once, and those in use as they come back: by this process for as long as it lives, ahead
   * of all who wait; {@link TokenStatus#pendingWithdrawals()} says how many are left. If this process
   * ends before, call it again from any other.
   *
   * <p>If more tokens are idle than there can be, because somebody else published some, the surplus
   * is removed. Surplus tokens that are in use, and tokens that others removed, are not seen here: the
   * status then counts by the record, and {@link #audit} tells the truth.
   *
   * @param slots how many, 1 to {@link #MAX_SLOTS}
   * @throws LockException.NotFound if it does not exist
   */
  TokenStatus resize(int slots);

  /**
   * Removes the semaphore with all of its tokens. Waiting calls end with {@link LockException.NotFound};
   * holders lose their leases at the next verification. In the plain protocol ({@link TokenNaming}) they
   * do so only if the queue was not made again before; wait for that long.
   *
   * <p>Its record and ledger, which make generations and epochs only rise, are deleted too, unless
   * tokens of it were made within the last hour, or more often than once a minute for long. In that
   * case these two small queues stay behind until it is destroyed again later.
   */
  void destroy();

  /** How many slots the semaphore has; 0 if it does not exist. */
  default int count() {
    return status().slots();
  }

  /** How many tokens are in use, or lost: all that do not wait in the queue. */
  default int inUse() {
    return status().inUse();
  }

  /** How things stand, in a few round trips; takes nothing from anybody. */
  TokenStatus status();

  /**
   * Waits until no token is left to be withdrawn. One whose making or withdrawal was interrupted by a
   * crash may be left until {@link #resize} or {@link #repair} finds out.
   *
   * @return false if some are when the time is over
   * @throws InterruptedException if the thread is interrupted while waiting
   */
  boolean awaitWithdrawn(Duration wait) throws InterruptedException;

  /**
   * Counts the tokens by taking each into hand once: all idle ones at once, and those in use as they
   * come back. Meanwhile nobody can acquire; all tokens are put back at the end, also if this process
   * dies. Changes nothing.
   *
   * <p>It takes all of the patience, since a surplus token may be in use. It ends sooner only if the
   * queue is a quorum queue, all tokens were seen, and nobody else holds or waits there.
   *
   * @param patience how long to wait for tokens in use; zero to look at the idle ones only
   */
  TokenAudit audit(Duration patience);

  /**
   * Audits, then makes right what is wrong: surplus messages are removed; if tokens are outstanding when
   * the patience is over, the semaphore moves to a new queue with all of its slots, and the old queue is
   * deleted. Whoever held an outstanding token until then loses the lease and is told at the next
   * verification; until then it may overlap with a new holder. So be patient for longer than any holder
   * holds, or use fencing tokens.
   */
  TokenAudit repair(Duration patience);
}
