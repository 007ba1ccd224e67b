package io.amqplocks.prover.driver;

/**
 * How a client works under a lock.
 *
 * @param permits how many slots it acquires at once
 * @param fenced whether leases need fencing tokens
 * @param waitMillis how long it waits for the lock; 0 does not wait
 * @param holdMicros how long it holds it
 * @param pauseMicros how long it does without it
 */
public record Load(
    int permits, boolean fenced, long waitMillis, long holdMicros, long pauseMicros) {}
