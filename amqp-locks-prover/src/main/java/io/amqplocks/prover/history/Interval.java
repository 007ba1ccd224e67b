package io.amqplocks.prover.history;

/**
 * A time, in nanoseconds of the monotonic clock.
 *
 * @param from its first moment
 * @param to its last moment
 */
public record Interval(long from, long to) {}
