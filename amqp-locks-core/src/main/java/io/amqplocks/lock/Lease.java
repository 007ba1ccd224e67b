package io.amqplocks.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One held slot of a lock, from a successful acquire until it is closed or lost. By {@link
 * AmqpLock#withPermits} it is several held slots of a semaphore. They are held together: the lease
 * is HELD while all of them are, it is lost when one of them is lost, and then the others are
 * released at once, as all are by {@link #close()}.
 *
 * <p>A lease belongs to no thread: any thread may call any method, and may close it. It has no time
 * to live, unless {@link AmqpLock#holdAtMost} set one. It lasts as long as the connection on which
 * it was acquired.
 *
 * <p>The broker decides who holds, and a holder can learn of a loss only after it happened. Check
 * {@link #state()} before a step that matters, listen by {@link #whenLost()}, and let a resource
 * that a stale holder could harm check a {@link FencingToken}.
 */
public interface Lease extends AutoCloseable {

  /** The lock of this lease. */
  LockId lock();

  /**
   * The slot held, from 1. A mutex has slot 1 only. The slot is 0 for a token that another kind of
   * client published, because that has no number. Of several permits it is the slot of the first
   * one.
   */
  int slot();

  /** How many slots are held: 1, unless the lease was acquired by {@link AmqpLock#withPermits}. */
  default int permits() {
    return 1;
  }

  /**
   * The token by which a resource can refuse stale holders. It stays the same when the lease ends,
   * because only the resource can say whether it is still good. Of several permits it is the token
   * of the first one, whose slot is {@link #slot()}.
   *
   * <p>A lease of {@link AmqpLock#fenced()} has one. So has each lease of a token semaphore on a
   * quorum queue, where tokens cost nothing. But without {@code fenced()} such a lease may move to
   * another slot when it is verified. The token remains the one of the first slot. The resource may
   * then refuse it although the lease is held.
   *
   * @throws LockException.NotFenced if the lease has none
   */
  FencingToken fencingToken();

  /** The fencing token; empty if the lease has none. */
  Optional<FencingToken> fencingTokenIfAny();

  /**
   * The fencing tokens of all permits, one for each slot. They are ordered within each slot only,
   * so a resource that is divided among the slots checks each part by its own token. Only a lease
   * of {@link AmqpLock#fenced()} keeps its slots; see {@link #fencingToken()}. Empty if the lease
   * has none.
   */
  default List<FencingToken> fencingTokens() {
    return fencingTokenIfAny().stream().toList();
  }

  /**
   * How sure the holder may be of the lease. This call costs nothing, sends nothing to the broker
   * and never blocks. If the broker has not replied to anything for three heartbeats, or the time
   * of {@link AmqpLock#holdAtMost} is over, this call makes the lease LOST.
   */
  LeaseState state();

  /**
   * Verifies with the broker that this lease still stands, with all of its permits, within the
   * call timeout.
   *
   * @return {@link LeaseState#HELD} if it does, {@link LeaseState#LOST} if it does not; {@link
   *     #state()} if the broker did not reply
   */
  LeaseState verify();

  /** Why the lease was lost, if it was. */
  Optional<LossReason> lossReason();

  /**
   * Completes when the lease is lost. It never completes if the lease is released first. Dependent
   * actions run one at a time on a thread of the library, or on the caller's thread if the lease is
   * lost already. An action that blocks delays those of leases that are lost later. A {@link
   * LockListener} that blocks does not: the actions run beside it, in no order with its calls.
   */
  CompletionStage<LossReason> whenLost();

  /**
   * The time since the lease was acquired, by the monotonic clock. It stops when the lease ends.
   */
  Duration age();

  /**
   * Releases the lease. When this returns, the slot belongs to the next waiter of this process, or
   * it is free at the broker. If the broker did not reply within the call timeout, the slot becomes
   * free as soon as the broker processes the request or drops the connection.
   *
   * <p>Tokens, mutexes and persistent mutexes are released without waiting for the broker. It frees
   * the slot as soon as it reads the release, and it reads later requests of this process after
   * that.
   *
   * <p>Closing again, or after a loss, does nothing. This method never throws.
   */
  @Override
  void close();
}
