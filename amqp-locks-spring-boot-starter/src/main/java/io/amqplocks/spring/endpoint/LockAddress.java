package io.amqplocks.spring.endpoint;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.LockCatalog;
import org.jspecify.annotations.Nullable;

/**
 * How an operator names a lock: by what it is, a semaphore or a mutex, by its name, and by its
 * algorithm where that is not the one that the application uses for the name. The words are those
 * of the properties.
 *
 * @param kind {@code semaphore} or {@code mutex}
 * @param name the name
 * @param algorithm {@code tokens} or {@code slots} of a semaphore; {@code exclusive-queue}, {@code
 *     tokens} or {@code persistent} of a mutex
 */
record LockAddress(String kind, String name, String algorithm) {

  private static final String SEMAPHORE = "semaphore";
  private static final String MUTEX = "mutex";

  /** How that lock is named. */
  static LockAddress of(LockId id) {
    String name = id.name().value();
    return switch (id.kind()) {
      case SEMAPHORE -> new LockAddress(SEMAPHORE, name, "slots");
      case TOKEN_SEMAPHORE -> new LockAddress(SEMAPHORE, name, "tokens");
      case MUTEX -> new LockAddress(MUTEX, name, "exclusive-queue");
      case FENCED_MUTEX -> new LockAddress(MUTEX, name, "tokens");
      case PERSISTENT_MUTEX -> new LockAddress(MUTEX, name, "persistent");
    };
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
      return switch (kind) {
        case SEMAPHORE -> catalog.semaphore(name);
        case MUTEX -> catalog.mutex(name);
        default -> throw unknown(kind);
      };
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
        "There is no kind of lock '%s': use semaphore (algorithm slots or tokens) or mutex"
                .formatted(what)
            + " (algorithm exclusive-queue, tokens or persistent)");
  }
}
