package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.time.Durations;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;

/**
 * One annotation, of any of the types, with its placeholders resolved.
 *
 * @param settings what it says of the lock
 * @param key the expression of the key, or blank
 * @param permits how many slots it holds at once, if there is no expression
 * @param permitsExpression the expression of that number, or blank
 * @param maxWait how long to wait, or blank
 * @param holdAtLeast how long it is held at least, or blank
 * @param holdAtMost how long it is held at most, or blank
 * @param onBusy what to do when it is busy
 * @param onUnavailable what to do when the broker is unavailable
 * @param fallbackMethod what to call instead, or blank
 * @param onLost what to do when it is lost
 * @param releaseAfter when it is released
 * @param fenced whether its leases have tokens
 * @param fair whether waiters of this process are served in the order of arrival
 */
public record DeclaredLock(
    LockSettings settings,
    String key,
    int permits,
    String permitsExpression,
    String maxWait,
    String holdAtLeast,
    String holdAtMost,
    OnBusy onBusy,
    OnUnavailable onUnavailable,
    String fallbackMethod,
    OnLost onLost,
    ReleaseAfter releaseAfter,
    boolean fenced,
    boolean fair) {

  /** What the annotation says. An attribute that its type does not have has the default. */
  public static DeclaredLock of(
      MergedAnnotation<?> found, String where, UnaryOperator<String> resolve) {
    return new DeclaredLock(
        settings(found, resolve.apply(found.getString("name")), where)
            .priority(found.getValue("priority", Integer.class).orElse(0)),
        resolve.apply(found.getString("key")),
        found.getValue("permits", Integer.class).orElse(1),
        found.getValue("permitsExpression", String.class).map(resolve).orElse(""),
        resolve.apply(found.getString("maxWait")),
        resolve.apply(found.getString("holdAtLeast")),
        resolve.apply(found.getString("holdAtMost")),
        found.getEnum("onBusy", OnBusy.class),
        found.getEnum("onUnavailable", OnUnavailable.class),
        found.getString("fallbackMethod"),
        found.getEnum("onLost", OnLost.class),
        found.getEnum("releaseAfter", ReleaseAfter.class),
        found.getBoolean("fenced"),
        found.getBoolean("fair"));
  }

  private static LockSettings settings(MergedAnnotation<?> found, String name, String where) {
    Class<?> type = found.getType();
    if (type == MutexGuarded.class) {
      return LockSettings.annotated(FamilyId.mutex(name), where)
          .algorithm(found.getEnum("algorithm", MutexAlgorithm.class));
    }
    if (type == SemaphoreGuarded.class) {
      return LockSettings.annotated(FamilyId.semaphore(name), where)
          .slots(found.getInt("slots"))
          .algorithm(found.getEnum("algorithm", SemaphoreAlgorithm.class));
    }
    return LockSettings.annotated(
        type == ReadGuarded.class ? FamilyId.readLock(name) : FamilyId.writeLock(name), where);
  }

  /** How long it waits; null if it does not say. */
  public @Nullable Duration longestWait() {
    if (maxWait.isBlank()) {
      return null;
    }
    Duration time = Durations.withUnit("maxWait", maxWait);
    if (time.isNegative()) {
      throw new IllegalArgumentException("maxWait must not be negative: " + maxWait);
    }
    return time;
  }

  /** How long it is held at least; zero if it does not say. */
  public Duration shortestHold() {
    if (holdAtLeast.isBlank()) {
      return Duration.ZERO;
    }
    Duration time = Durations.withUnit("holdAtLeast", holdAtLeast);
    if (time.isNegative()) {
      throw new IllegalArgumentException("holdAtLeast must not be negative: " + holdAtLeast);
    }
    return time;
  }

  /** How long it is held at most; null if it does not say. */
  public @Nullable Duration longestHold() {
    if (holdAtMost.isBlank()) {
      return null;
    }
    Duration time = Durations.withUnit("holdAtMost", holdAtMost);
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException(
          "holdAtMost of %s must be above zero, and not %s: leave it out for no limit"
              .formatted(lock(), holdAtMost));
    }
    if (time.compareTo(shortestHold()) <= 0) {
      throw new IllegalArgumentException(
          "holdAtMost = %s of %s must be above holdAtLeast = %s: make it longer, or leave one out"
              .formatted(holdAtMost, lock(), holdAtLeast));
    }
    return time;
  }

  /** The lock of that name, whatever its algorithm. */
  public FamilyId lock() {
    return settings.lock();
  }

  /**
   * Whether the same lock is meant, as far as can be seen without a call. The two sides of a
   * read-write lock are one lock here, because a call that has one of them waits for itself at the
   * other.
   */
  public boolean isSameLock(DeclaredLock other) {
    return lock().isSameOrOtherSide(other.lock()) && key.equals(other.key);
  }

  /** Whether both may turn out to be the two sides of one lock, and the reader wants a token. */
  public boolean isFencedBesideWriter(DeclaredLock other) {
    return fenced
        && lock().family() == Family.READ_LOCK
        && lock().otherSide().filter(other.lock()::equals).isPresent();
  }

  /** Whether both may turn out to be one lock by their keys, and want different things of it. */
  public boolean contradicts(DeclaredLock other) {
    return lock().isSameOrOtherSide(other.lock())
        && !(key.isBlank() ^ other.key.isBlank())
        && (onBusy != other.onBusy
            || onUnavailable != other.onUnavailable
            || onLost != other.onLost
            || releaseAfter != other.releaseAfter
            || permits != other.permits
            || !permitsExpression.equals(other.permitsExpression)
            || !fallbackMethod.equals(other.fallbackMethod)
            || !holdAtLeast.equals(other.holdAtLeast)
            || !holdAtMost.equals(other.holdAtMost)
            || !maxWait.equals(other.maxWait));
  }
}
