package io.amqplocks.prover.history;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.amqplocks.prover.driver.LockRef;
import org.jspecify.annotations.Nullable;

/**
 * Something that was done to a client or to the broker.
 *
 * @param what what it was
 * @param from when it began, in nanoseconds of the monotonic clock
 * @param to when it was over; the same as {@code from} if it takes no time
 * @param lock the lock whose queue it was done to; null if it concerns all locks
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FaultSpan(String what, long from, long to, @Nullable LockRef lock) {

  /** Something that concerns all locks. */
  public FaultSpan(String what, long from, long to) {
    this(what, from, to, null);
  }
}
