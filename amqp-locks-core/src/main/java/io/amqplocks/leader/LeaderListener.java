package io.amqplocks.leader;

/**
 * Is notified of the terms of one {@link LeaderElection}. Calls come one at a time, on a thread of
 * the election: {@code granted} and then {@code revoked} for each term. An exception is logged and
 * has no other effect.
 *
 * <p>A listener may block. While {@code granted} blocks, {@code revoked} of the same term cannot be
 * called, so work that takes long belongs in a {@link LeaderTask} or a thread of its own. A
 * listener may call any method of the election.
 */
public interface LeaderListener {

  /** This process leads from now on. */
  default void granted(Leadership leadership) {}

  /**
   * This process does not lead any more. {@link LeaderElection#isLeader()} has been false since
   * before this call.
   *
   * <p>If leadership was given up, the next leader begins only after this method has returned, or
   * after the {@linkplain LeaderElectionBuilder#grace grace period}. After a loss it may have begun
   * already.
   */
  default void revoked(Leadership leadership, Revocation revocation) {}
}
