package io.amqplocks.lock;

/**
 * Administration of the counters that the fencing tokens of one lock are drawn from. A slot's counter
 * is made when a token of it is wanted for the first time ever. If it is lost after that, by deletion,
 * by a policy or with its nodes, no fenced lease of the slot can be had until an administrator, who
 * can judge what was lost, renews it here. Safe to call from any process and to repeat after a crash.
 */
public interface FenceAdmin {

  /**
   * Replaces the counter of a slot by a new one of a higher epoch: all tokens to come are higher than
   * all so far. Takes no lease from anybody. While another administrator is at work on it, waits, up
   * to half a minute.
   *
   * <p>Where the present counter is lost and was made less than a few minutes ago, or by a clock that
   * was ahead of this one, {@link #renewAbove} is the one to use.
   *
   * @param slot the slot, from 1
   * @return the new epoch
   * @throws LockException.FenceUnavailable if another administrator is at work for too long, or a
   *     policy would drop the new counter; the present one stays
   * @throws LockException.Unanswered if the old counter's queue does not react, not even to its
   *     deletion: an operator must delete it at the broker, and then this call be made again
   */
  long renew(int slot);

  /**
   * The same with an epoch that is certainly higher than that of a token known from elsewhere, such as
   * the highest that the protected resource has seen: for a broker that lost everything.
   *
   * @param number the {@link FencingToken#number()} of that token, or 0
   */
  long renewAbove(int slot, long number);
}
