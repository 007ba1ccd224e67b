package io.amqplocks.support;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;

/** How a process that a test starts is told which lock is meant: {@code KIND:NAME}. */
public final class LockArgument {

  private LockArgument() {}

  /** The lock that is meant: a mutex, persistent, semaphore, tokens, fenced, read or
   * write one. */
  public static AmqpLock lock(AmqpLocks locks, String argument) {
    String name = argument.substring(argument.indexOf(':') + 1);
    String kind = argument.substring(0, argument.length() - name.length() - 1);
    return switch (kind) {
      case "mutex" -> locks.mutex(name);
      case "exclusive" -> locks.exclusiveQueueMutex(name);
      case "persistent" -> locks.persistentMutex(name);
      case "semaphore" -> locks.slotSemaphore(name);
      case "tokens" -> locks.tokenSemaphore(name);
      case "fenced" -> locks.fencedMutex(name);
      case "read" -> locks.readWriteLock(name).readLock();
      case "write" -> locks.readWriteLock(name).writeLock();
      default -> throw new IllegalArgumentException(argument);
    };
  }
}
