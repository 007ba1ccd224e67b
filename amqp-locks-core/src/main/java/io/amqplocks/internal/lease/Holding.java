package io.amqplocks.internal.lease;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.Optional;

/**
 * What a lease consists of at the broker, and how it is had, kept and given back. Steps of one holding
 * are taken one at a time, but for {@link #standing}, which may be asked at any time in between.
 */
public interface Holding {

  /** Where a holding stands, as the broker says. */
  enum Standing {
    /** It is this session's. */
    OURS,
    /** It is gone, or another's. */
    GONE,
    /** It is this session's, but an administrator removed the slot. */
    SLOT_REMOVED,
    /** The broker did not answer. */
    UNKNOWN
  }

  /** The lock. */
  LockId lock();

  /** Which slot of it, from 1. */
  int slot();

  /**
   * Contends with all others for it. Once.
   *
   * @return whether it is ours; if not, or if this throws, there is nothing to give back
   * @throws LockException if the broker did not say; whatever comes of it later is undone
   */
  boolean contend(Call call, Session session);

  /**
   * Makes sure of what was won: to be told when it goes, and that its slot is still there.
   *
   * @param revoked is to be called when it goes, on any thread; must not block
   * @return whether it is safe to hold; if not, or if this throws, it must be released
   */
  boolean secure(Call call, Session session, Runnable revoked);

  /** Asks the broker whether it still stands. */
  Standing standing(Call call, Session session);

  /** Gives it back, or makes sure that it is not ours any more. Never throws. */
  void release(Call call, Session session);

  /**
   * Whether another lease of this process may take it over as it is: not if each lease must have a
   * fencing token of its own.
   */
  default boolean mayBeHandedOver() {
    return true;
  }

  /**
   * The fencing token drawn for it when it was secured.
   *
   * @throws LockException.NotFenced unless one was asked for
   */
  default FencingToken token() {
    return tokenIfAny()
        .orElseThrow(
            () ->
                new LockException.NotFenced(
                    "The lease of slot %d of %s has no fencing token; acquire it by lock.fenced()"
                        .formatted(slot(), lock())));
  }

  /** The same, or empty unless one was asked for. */
  default Optional<FencingToken> tokenIfAny() {
    return Optional.empty();
  }

  /** What stands for it at the broker, for messages: a queue's name. */
  String trace();

  /**
   * How long ago the broker proved to have heard from this client, in nanoseconds, when it was won
   * without asking; 0 if winning it was the answer to a question.
   */
  default long proofAgeNanos(Session session) {
    return 0;
  }

  /** How it went, once it is gone. */
  default LossReason loss() {
    return new LossReason(Cause.REVOKED, "queue " + trace() + " was deleted");
  }
}
