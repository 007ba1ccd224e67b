package io.amqplocks.prover.history;

/**
 * A write that a guarded row took, as the database tells it: after the write the row is so.
 *
 * @param lock the name of the lock that guards the row
 * @param slot its slot
 * @param token the token of the lease that wrote; 0 if it has none
 * @param total how many additions there were so far, by the count of those who wrote
 * @param writes how many additions there were so far, by the count of the database
 * @param at when, in nanoseconds of the monotonic clock
 */
public record Stored(String lock, int slot, long token, long total, long writes, long at) {}
