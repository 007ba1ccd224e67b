package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The counterpart of a lease at the broker, after it was won. It is secured, verified and given
 * back.
 *
 * <p>Concurrency: the steps of one hold are taken one at a time, except {@link #status}, which may
 * be called at any time.
 */
public interface Hold {

  /** The status of a hold, as the broker reports it. */
  enum HoldStatus {
    /** It belongs to this session. */
    OURS,
    /** It is gone, or belongs to another client. */
    GONE,
    /** It belongs to this session, but an administrator removed the slot. */
    SLOT_REMOVED,
    /** The broker did not reply. */
    UNKNOWN
  }

  /** Contends for a hold with all other clients. */
  @FunctionalInterface
  interface Contest {
    /**
     * Contends once.
     *
     * @return the hold that was won; if it is empty, or if this method throws, there is nothing to
     *     give back
     * @throws LockException if the broker did not reply; an effect that shows later is undone
     */
    Optional<? extends Hold> win(Call call, Session session);
  }

  /** The lock. */
  LockId lock();

  /** The number of the slot, from 1. */
  int slot();

  /** The numbers of all its slots, that one first. */
  default List<Integer> slots() {
    return List.of(slot());
  }

  /** How many slots it has. */
  default int permits() {
    return 1;
  }

  /**
   * Secures a hold that was won: subscribes to its revocation, and checks that its slot still
   * exists.
   *
   * @param revoked is called when the hold is revoked, on any thread; must not block
   * @return whether it is safe to hold the slot; if not, or if this method throws, the hold must be
   *     released
   */
  boolean secure(Call call, Session session, Runnable revoked);

  /** Asks the broker whether the hold still stands. */
  HoldStatus status(Call call, Session session);

  /**
   * Whether another client may hold the slot at this moment, as far as this process knows. Sends no
   * request.
   */
  default boolean isInDoubt() {
    return false;
  }

  /**
   * Whether what it is held by was given back to be verified and is not here again yet. It is
   * almost always back after a round trip, so the lease is not in doubt because of that. But no
   * other lease may begin with it.
   */
  default boolean isUnderWay() {
    return false;
  }

  /** Gives the hold back, or makes sure that it is not ours any more. Never throws. */
  void release(Call call, Session session);

  /**
   * Whether the next lease of this process may take the hold over as it is.
   *
   * @param fenced whether that lease is to be fenced
   */
  default boolean mayBeHandedTo(boolean fenced) {
    return !fenced;
  }

  /**
   * The fencing token of the first lease of the hold. It was drawn when the hold was secured, and
   * never changes but by {@link #renumber}. Empty if none was.
   */
  default Optional<FencingToken> tokenIfAny() {
    return Optional.empty();
  }

  /**
   * Takes the fencing token that it was given last, if it moved to another slot meanwhile, or
   * another client had it in between. Only for a hold whose fencing token nobody was told yet.
   */
  default void renumber() {}

  /** The fencing tokens of all its slots. Empty if none were drawn. */
  default List<FencingToken> tokens() {
    return tokenIfAny().stream().toList();
  }

  /** The name of the queue that stands for the hold at the broker, for messages. */
  String queueName();

  /**
   * Whether the hold was won by a message that the broker sent to a consumer. The broker may do so
   * while it is ending the connection (trap 19).
   */
  default boolean isPushed() {
    return false;
  }

  /**
   * The age of the proof that the broker has heard from this client, in nanoseconds, if the hold
   * was won without a request. It is 0 if the hold was won by the reply to a request.
   */
  default long proofAgeNanos(Session session) {
    return 0;
  }

  /**
   * When the oldest proof of its parts was sent, if it has parts that are verified by themselves.
   * So several verifications count that had no time for all of them.
   */
  default OptionalLong oldestProof() {
    return OptionalLong.empty();
  }

  /** Why the hold was lost, once it is gone. */
  default LossReason loss() {
    return new LossReason(Cause.REVOKED, "queue " + queueName() + " was deleted");
  }
}
