package io.amqplocks.admin;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;

/**
 * Administers the counters from which the fencing tokens of one lock are drawn. The counter of a
 * slot is created when a token is needed for the first time. A counter may be lost later by
 * deletion, by a policy or with its nodes. Then the slot has no fenced leases until an
 * administrator, who can judge what was lost, renews the counter here.
 *
 * <p>Methods may be called from any process, and repeated after a crash.
 */
public interface FenceAdmin {

  /**
   * Replaces the counter of a slot by a new one with a higher epoch. All later tokens are higher
   * than all earlier ones. No lease is lost. If another administrator renews the same counter, this
   * call waits for up to half a minute.
   *
   * <p>Use {@link #renewAbove} instead if the present counter is lost, and was created less than a
   * few minutes ago or by a clock that was ahead of this one.
   *
   * @param slot the slot, from 1
   * @return the new epoch
   * @throws LockException.FenceUnavailable if another administrator takes too long, or a policy
   *     would drop the new counter; the present counter stays
   * @throws LockException.Unanswered if the old counter's queue does not even react to its
   *     deletion; an operator must delete it at the broker, and then this call must be repeated
   */
  long renew(int slot);

  /**
   * Replaces the counter of a slot, like {@link #renew}, by one whose epoch is certainly higher
   * than that of a known token. Use it after the broker lost everything, with the highest token
   * that the protected resource has seen.
   *
   * @param slot the slot, from 1
   * @param number the {@link FencingToken#number()} of that token, or 0
   * @return the new epoch
   */
  long renewAbove(int slot, long number);
}
