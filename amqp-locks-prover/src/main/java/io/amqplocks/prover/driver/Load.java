package io.amqplocks.prover.driver;

/**
 * How a client works under a lock.
 *
 * @param permits how many slots it acquires at once
 * @param fenced whether leases need fencing tokens
 * @param reads whether it acquires the read lock of a read-write lock, and not the write lock
 * @param waitMillis how long it waits for the lock; 0 does not wait
 * @param holdMicros how long it holds it, or how long a consumer is active
 * @param pauseMicros how long it does without it, or how long a consumer takes for a message
 */
public record Load(
    int permits,
    boolean fenced,
    boolean reads,
    long waitMillis,
    long holdMicros,
    long pauseMicros) {

  /** The same, held for that long. */
  public Load holding(long micros) {
    return new Load(permits, fenced, reads, waitMillis, micros, pauseMicros);
  }
}
