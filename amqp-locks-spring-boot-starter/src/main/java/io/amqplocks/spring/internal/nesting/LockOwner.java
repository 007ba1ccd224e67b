package io.amqplocks.spring.internal.nesting;

/**
 * Something that has its locks from somebody. Two locks are the same one only if they have the same
 * owner: two applications in one JVM exclude each other, as two processes do.
 */
public interface LockOwner {

  /** Where the locks come from. */
  Object owner();

  /** The owner of locks that come from that object; it itself unless it names another one. */
  static Object of(Object source) {
    return source instanceof LockOwner owned ? owned.owner() : source;
  }
}
