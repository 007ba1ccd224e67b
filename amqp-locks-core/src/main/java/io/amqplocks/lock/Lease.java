package io.amqplocks.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One held slot of a lock, from a successful acquire until it is closed or lost.
 *
 * <p>A lease belongs to no thread: any thread may call any method, and one may close it that did not
 * acquire it. It has no time to live; it lasts while the connection lives that acquired it.
 *
 * <p>It is a lease and not magic: the broker decides who holds, and a holder can learn of a loss only
 * after it happened. Check {@link #state()} before a step that matters, listen by {@link
 * #whenLost()}, and protect a resource that a stale holder could harm by a check of its own.
 */
public interface Lease extends AutoCloseable {

  /** The lock that this is a lease of. */
  LockId lock();

  /**
   * The slot held, from 1; a mutex has slot 1 only. 0 for a token that was published by a client of
   * another kind, which has no number.
   */
  int slot();

  /**
   * The token that a resource can refuse stale holders by. Stays what it is when the lease ends: it is
   * for the resource to say whether it is still good.
   *
   * @throws LockException.NotFenced if the lease was not acquired by {@link AmqpLock#fenced()}
   */
  FencingToken fencingToken();

  /** The same; empty if the lease was not acquired by {@link AmqpLock#fenced()}. */
  Optional<FencingToken> fencingTokenIfAny();

  /**
   * How sure the holder may be, without asking the broker: costs nothing, never blocks. If the broker
   * has answered nothing for three heartbeats, this call makes the lease LOST.
   */
  LeaseState state();

  /**
   * Asks the broker whether this lease still stands, within the call timeout.
   *
   * @return {@link LeaseState#HELD} if it does; {@link LeaseState#LOST} if not; if the broker did not
   *     answer, what {@link #state()} says
   */
  LeaseState verify();

  /** Why the lease was lost, if it was. */
  Optional<LossReason> lossReason();

  /**
   * Completes when the lease is lost; never if it is released first. Actions that depend on it run
   * on a thread of the library, one at a time, or on the caller's if it is lost already: one that
   * blocks delays all later notices.
   */
  CompletionStage<LossReason> whenLost();

  /** How long ago the lease was acquired, in monotonic time; stops when it ends. */
  Duration age();

  /**
   * Gives the lease back. When this returns, the slot is another's of this process who waited for it, or
   * it is free at the broker; if the broker did not answer within the call timeout, it becomes free as
   * soon as the broker works off the request, or drops the connection. Tokens are given back without
   * waiting for the broker: it frees the slot as soon as it reads that, and what this process asks for
   * next it reads after that. Closing again, or after a loss, does nothing. Never throws.
   */
  @Override
  void close();
}
