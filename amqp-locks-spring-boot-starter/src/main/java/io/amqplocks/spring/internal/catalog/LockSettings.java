package io.amqplocks.spring.internal.catalog;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one place says of a lock: the properties of its name, or one annotation.
 *
 * @param lock the lock, whatever its algorithm
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
public record LockSettings(
    FamilyId lock,
    String source,
    boolean configured,
    int slots,
    @Nullable LockKind algorithm,
    @Nullable TokenQueueType queueType,
    @Nullable Duration maxWait,
    int priority,
    @Nullable OnMismatch onMismatch) {

  /** Nothing yet, by the properties of that lock. */
  public static LockSettings configured(FamilyId lock) {
    return new LockSettings(lock, lock.property(), true, 0, null, null, null, 0, null);
  }

  /** Nothing yet, by that annotated method. */
  public static LockSettings annotated(FamilyId lock, String method) {
    return new LockSettings(lock, method, false, 0, null, null, null, 0, null);
  }

  /** These settings with that number of slots; 0 leaves it open. */
  public LockSettings slots(int number) {
    return new LockSettings(
        lock, source, configured, number, algorithm, queueType, maxWait, priority, onMismatch);
  }

  /** These settings with that algorithm. */
  public LockSettings algorithm(SemaphoreAlgorithm wanted) {
    return algorithm(wanted.kind());
  }

  /** These settings with that algorithm. */
  public LockSettings algorithm(MutexAlgorithm wanted) {
    return algorithm(wanted.kind());
  }

  private LockSettings algorithm(@Nullable LockKind wanted) {
    return new LockSettings(
        lock, source, configured, slots, wanted, queueType, maxWait, priority, onMismatch);
  }

  /** These settings with that type of queue; null leaves it open. */
  public LockSettings queueType(@Nullable TokenQueueType type) {
    return new LockSettings(
        lock, source, configured, slots, algorithm, type, maxWait, priority, onMismatch);
  }

  /** These settings with that wait; null leaves it open. */
  public LockSettings maxWait(@Nullable Duration atMost) {
    return new LockSettings(
        lock, source, configured, slots, algorithm, queueType, atMost, priority, onMismatch);
  }

  /** These settings with that priority; 0 is none. */
  public LockSettings priority(int number) {
    return new LockSettings(
        lock, source, configured, slots, algorithm, queueType, maxWait, number, onMismatch);
  }

  /**
   * These settings with that reaction to another number of slots at the broker; null leaves it
   * open.
   */
  public LockSettings onMismatch(@Nullable OnMismatch reaction) {
    return new LockSettings(
        lock, source, configured, slots, algorithm, queueType, maxWait, priority, reaction);
  }
}
