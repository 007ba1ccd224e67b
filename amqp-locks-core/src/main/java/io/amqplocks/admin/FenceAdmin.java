package io.amqplocks.admin;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;

/**
 * Administers the counters from which the fencing tokens of one lock are drawn. A counter is
 * created when a token is needed for the first time. It may be lost later by deletion, by a policy
 * or with its nodes. From then on no fenced lease can be acquired with it, until an administrator,
 * who can judge what was lost, renews the counter here.
 *
 * <p>Each slot of a lock without a key has a counter of its own. All locks of one kind whose names
 * are {@code name:key} ({@link LockName#withoutKey}) share 16 counters, and each slot of each key
 * draws from one of them. The read lock and the write lock of one name have the same counters.
 *
 * <p>Methods may be called from any process, and repeated after a crash.
 */
public interface FenceAdmin {

  /**
   * Replaces the counter of a slot by a new one with a higher epoch. All later tokens are higher
   * than all earlier ones. No lease is lost. For 100 ms, slots that a process has acquired at the
   * broker before may still be handed over with tokens of the old counter. If another administrator
   * renews the same counter, this call waits for up to half a minute.
   *
   * <p>If the lock has a key, the counter is renewed for all keys that share it. Their tokens go on
   * rising, too.
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
   * that the protected resource has seen. If the lock has a key, that is the highest token of any
   * key of its name.
   *
   * @param slot the slot, from 1
   * @param number the {@link FencingToken#number()} of that token, or 0
   * @return the new epoch
   */
  long renewAbove(int slot, long number);

  /**
   * Renews, one after the other as {@link #renew} does, those of the 16 counters of the keys of
   * this name that were ever in use: after an upgrade of the broker from 3.x to 4.x, for example.
   *
   * <p>Each counter has a bound of half a minute, so the call takes eight minutes at worst. An old
   * counter without a message costs up to a second. Fenced acquires of these keys may fail
   * meanwhile, and can be repeated. If a counter cannot be renewed, the call fails, and those
   * before it stay renewed.
   *
   * @return how many there were
   * @throws LockException.Invalid if the lock itself has a key; its name without the key is needed
   */
  int renewKeys();

  /**
   * Renews all 16 counters of the keys of this name, like {@link #renewAbove}, also those that were
   * never in use: the broker may have lost those that were.
   *
   * @param number the highest {@link FencingToken#number()} that a resource has seen of any key
   * @return how many there are
   * @throws LockException.Invalid if the lock itself has a key; its name without the key is needed
   */
  int renewKeysAbove(long number);
}
