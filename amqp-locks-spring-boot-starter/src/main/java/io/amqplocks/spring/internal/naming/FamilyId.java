package io.amqplocks.spring.internal.naming;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The semaphore, the mutex, or the side of the read-write lock of a name, whatever its algorithm.
 * Properties and annotations name locks this way; the catalog decides which lock stands for each.
 *
 * @param family semaphore, mutex, read lock or write lock
 * @param name the name within the family
 */
public record FamilyId(Family family, LockName name) {

  private static final Pattern PLAIN = Pattern.compile("[a-z0-9][a-z0-9-]*");

  /** The semaphore of that name. */
  public static FamilyId semaphore(String name) {
    return of(Family.SEMAPHORE, name);
  }

  /** The mutex of that name. */
  public static FamilyId mutex(String name) {
    return of(Family.MUTEX, name);
  }

  /** The read lock of that name. */
  public static FamilyId readLock(String name) {
    return of(Family.READ_LOCK, name);
  }

  /** The write lock of that name. */
  public static FamilyId writeLock(String name) {
    return of(Family.WRITE_LOCK, name);
  }

  /**
   * The lock of that family and name.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   */
  public static FamilyId of(Family family, String name) {
    return new FamilyId(family, LockName.of(name));
  }

  /** The name that this lock has within its family. */
  public static FamilyId of(LockId lock) {
    return new FamilyId(lock.kind().family(), lock.name());
  }

  /** The lock of this name and that kind. */
  public LockId as(LockKind kind) {
    return new LockId(kind, name);
  }

  /** The name before the colon, if this one has a key. */
  public Optional<FamilyId> withoutKey() {
    return name.withoutKey().map(base -> new FamilyId(family, base));
  }

  /** The other side, if this one is a side of a read-write lock. */
  public Optional<FamilyId> otherSide() {
    return switch (family) {
      case READ_LOCK -> Optional.of(new FamilyId(Family.WRITE_LOCK, name));
      case WRITE_LOCK -> Optional.of(new FamilyId(Family.READ_LOCK, name));
      case MUTEX, SEMAPHORE -> Optional.empty();
    };
  }

  /** Whether it is that lock, or the other side of the same read-write lock. */
  public boolean isSameOrOtherSide(FamilyId other) {
    return name.equals(other.name) && group(family).equals(group(other.family));
  }

  /**
   * The common prefix of the lock's properties, as it must be written: Spring Boot keeps characters
   * other than lower-case letters, digits and {@code -} only between brackets.
   */
  public String property() {
    String plain = name.value();
    return group(family) + (PLAIN.matcher(plain).matches() ? "." + plain : "[" + plain + "]");
  }

  /** The property that has all locks of that family below it: one for both sides. */
  public static String group(Family family) {
    return switch (family) {
      case MUTEX -> "amqp-locks.mutexes";
      case SEMAPHORE -> "amqp-locks.semaphores";
      case READ_LOCK, WRITE_LOCK -> "amqp-locks.read-write-locks";
    };
  }

  /** As it stands in messages: {@code semaphore 'images'}. */
  @Override
  public String toString() {
    return family.label().replace('-', ' ') + " '" + name + "'";
  }
}
