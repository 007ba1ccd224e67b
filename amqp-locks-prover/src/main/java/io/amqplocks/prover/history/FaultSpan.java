package io.amqplocks.prover.history;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.amqplocks.prover.driver.LockRef;
import org.jspecify.annotations.Nullable;

/**
 * Something that was done to a client or to the broker.
 *
 * @param what what it was
 * @param from when it began, in nanoseconds of the monotonic clock
 * @param full from when on it was in full force; the same as {@code to} if that is not known
 * @param to when its end began; the same as {@code from} if it takes no time
 * @param over when it had ended; the same as {@code to} if that is not known
 * @param lock the lock whose queue it was done to; null if it concerns all locks
 * @param node the node of a cluster that it was done to, from 1; null if it was done to none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FaultSpan(
    String what,
    long from,
    long full,
    long to,
    long over,
    @Nullable LockRef lock,
    @Nullable Integer node) {

  /** As it is read. */
  public FaultSpan {
    full = full == 0 ? to : full;
    over = over == 0 ? to : over;
  }

  /** Something of which it is not known when it was in full force. */
  public FaultSpan(String what, long from, long to, @Nullable LockRef lock) {
    this(what, from, to, to, to, lock, null);
  }

  /** Something that concerns all locks. */
  public FaultSpan(String what, long from, long to) {
    this(what, from, to, to, to, null, null);
  }

  /** Something of which it is known when it was in full force. */
  public FaultSpan(String what, long from, long full, long to, @Nullable LockRef lock) {
    this(what, from, full, to, to, lock, null);
  }

  /** The same, which had ended at that time. */
  public FaultSpan overAt(long time) {
    return new FaultSpan(what, from, full, to, time, lock, node);
  }

  /** The same, done to that node. */
  public FaultSpan ofNode(int number) {
    return new FaultSpan(what, from, full, to, over, lock, number);
  }
}
