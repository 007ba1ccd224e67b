package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.regex.Pattern;

/** Semaphores and mutexes, whatever their algorithms: in these two families names are given. */
final class LockFamily {

  private static final Pattern PLAIN = Pattern.compile("[a-z0-9][a-z0-9-]*");

  private LockFamily() {}

  /** The name in its family. */
  static LockId of(LockId id) {
    return switch (id.kind()) {
      case SEMAPHORE, MUTEX -> id;
      case TOKEN_SEMAPHORE -> new LockId(LockKind.SEMAPHORE, id.name());
      case FENCED_MUTEX, PERSISTENT_MUTEX -> new LockId(LockKind.MUTEX, id.name());
    };
  }

  /** What the names of the lock's properties begin with, as they must be written. */
  static String property(LockId id) {
    String name = id.name().value();
    return (of(id).kind() == LockKind.MUTEX ? "amqp-locks.mutexes" : "amqp-locks.semaphores")
        + (PLAIN.matcher(name).matches() ? "." + name : "[" + name + "]");
  }
}
