package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.TokenQueueType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one place says of a semaphore or a mutex: the properties of its name, or one annotation.
 *
 * @param lock the semaphore or the mutex of that name, whatever its algorithm
 * @param source who says so: what the properties' names begin with, or the annotated method
 * @param configured whether it is properties, which count more than annotations
 * @param slots how many slots; 0 if it says nothing of them
 * @param algorithm the kind of lock that it is to be; null if it says nothing of it
 * @param queueType what is to keep the tokens, if it has tokens; null if it says nothing of it
 * @param maxWait how long to wait; null if it says nothing of it
 * @param priority which priority calls have that wait; 0 if none
 * @param onMismatch what to do if the broker has another number of slots; null if it says nothing
 *     of it
 */
public record LockTerms(
    LockId lock,
    String source,
    boolean configured,
    int slots,
    @Nullable LockKind algorithm,
    @Nullable TokenQueueType queueType,
    @Nullable Duration maxWait,
    int priority,
    @Nullable OnMismatch onMismatch) {

  /** Nothing yet, by the properties of that lock. */
  public static LockTerms configured(LockId lock) {
    return new LockTerms(lock, LockCatalog.property(lock), true, 0, null, null, null, 0, null);
  }

  /** Nothing yet, by that annotated method. */
  public static LockTerms annotated(LockId lock, String method) {
    return new LockTerms(lock, method, false, 0, null, null, null, 0, null);
  }

  /** Also so many slots, or 0 for nothing said. */
  public LockTerms slots(int number) {
    return new LockTerms(
        lock, source, configured, number, algorithm, queueType, maxWait, priority, onMismatch);
  }

  /** Also of that algorithm. */
  public LockTerms algorithm(SemaphoreAlgorithm wanted) {
    return algorithm(wanted.kind());
  }

  /** Also of that algorithm. */
  public LockTerms algorithm(MutexAlgorithm wanted) {
    return algorithm(wanted.kind());
  }

  private LockTerms algorithm(@Nullable LockKind wanted) {
    return new LockTerms(
        lock, source, configured, slots, wanted, queueType, maxWait, priority, onMismatch);
  }

  /** Also on queues of that type, or null for nothing said. */
  public LockTerms queueType(@Nullable TokenQueueType type) {
    return new LockTerms(
        lock, source, configured, slots, algorithm, type, maxWait, priority, onMismatch);
  }

  /** Also waiting for so long, or null for nothing said. */
  public LockTerms maxWait(@Nullable Duration atMost) {
    return new LockTerms(
        lock, source, configured, slots, algorithm, queueType, atMost, priority, onMismatch);
  }

  /** Also with that priority, or 0 for none. */
  public LockTerms priority(int number) {
    return new LockTerms(
        lock, source, configured, slots, algorithm, queueType, maxWait, number, onMismatch);
  }

  /** Also doing that if the broker has another number of slots, or null for nothing said. */
  public LockTerms onMismatch(@Nullable OnMismatch reaction) {
    return new LockTerms(
        lock, source, configured, slots, algorithm, queueType, maxWait, priority, reaction);
  }
}
