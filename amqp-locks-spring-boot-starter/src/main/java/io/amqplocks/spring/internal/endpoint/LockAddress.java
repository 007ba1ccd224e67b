package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How an operator names a lock: by what it is, such as a semaphore or a mutex, by its name, and by
 * its algorithm where that is not the one that the application uses for the name. The words are
 * those of the properties.
 *
 * @param kind {@code semaphore}, {@code mutex}, {@code read-lock} or {@code write-lock}
 * @param name the name
 * @param algorithm {@code tokens} or {@code slots} of a semaphore; {@code
 *     single-active-consumer}, {@code exclusive-queue}, {@code tokens} or {@code persistent} of a
 *     mutex; {@code shared-consumer} of a read lock, and {@code exclusive-consumer} of a write lock
 */
record LockAddress(String kind, String name, String algorithm) {

  /** How that lock is named. */
  static LockAddress of(LockId id) {
    LockKind kind = id.kind();
    return new LockAddress(kind.family().label(), id.name().value(), kind.algorithm());
  }

  /**
   * The lock that is meant.
   *
   * @param algorithm null for that which the application uses for the name
   * @throws LockException.Invalid if there is no such kind, algorithm or name
   */
  static LockId parse(LockCatalog catalog, String kind, String name, @Nullable String algorithm) {
    LockName checked = LockName.of(name);
    if (algorithm == null) {
      return Arrays.stream(Family.values())
          .filter(family -> family.label().equals(kind))
          .findFirst()
          .map(family -> catalog.resolve(new FamilyId(family, checked)))
          .orElseThrow(() -> unknown(kind));
    }
    for (LockKind each : LockKind.values()) {
      LockId id = new LockId(each, checked);
      if (of(id).equals(new LockAddress(kind, name, algorithm))) {
        return id;
      }
    }
    throw unknown(kind + " with the algorithm " + algorithm);
  }

  private static LockException unknown(String what) {
    return new LockException.Invalid(
        "There is no kind of lock '%s': use semaphore (algorithm slots or tokens), mutex"
                .formatted(what)
            + " (algorithm single-active-consumer, exclusive-queue, tokens or persistent), read-lock"
            + " or write-lock");
  }
}
