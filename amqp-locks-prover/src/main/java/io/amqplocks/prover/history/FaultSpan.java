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
 * @param to when it was over; the same as {@code from} if it takes no time
 * @param lock the lock whose queue it was done to; null if it concerns all locks
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FaultSpan(String what, long from, long full, long to, @Nullable LockRef lock) {

  /** As it is read. */
  public FaultSpan {
    full = full == 0 ? to : full;
  }

  /** Something of which it is not known when it was in full force. */
  public FaultSpan(String what, long from, long to, @Nullable LockRef lock) {
    this(what, from, to, to, lock);
  }

  /** Something that concerns all locks. */
  public FaultSpan(String what, long from, long to) {
    this(what, from, to, to, null);
  }
}
