package io.amqplocks.prover.history;

/**
 * Something that was done to a client or to the broker.
 *
 * @param what what it was
 * @param from when it began, in nanoseconds of the monotonic clock
 * @param to when it was over; the same as {@code from} if it takes no time
 */
public record FaultSpan(String what, long from, long to) {}
