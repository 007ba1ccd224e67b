package io.amqplocks.spring.internal.async;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The caller's thread-locals that are registered with Micrometer's context propagation. Only this
 * class needs that library.
 *
 * @param snapshot their values
 */
record CallerThreadLocals(ContextSnapshot snapshot) {

  private static final Logger log = LoggerFactory.getLogger(CallerThreadLocals.class);

  /** What the caller does not have, its work does not have either. */
  private static final ContextSnapshotFactory FACTORY =
      ContextSnapshotFactory.builder().clearMissing(true).build();

  /** The thread-locals of this thread. */
  static CallerThreadLocals here() {
    return new CallerThreadLocals(FACTORY.captureAll());
  }

  /** Does the work with them, and then restores those of this thread. */
  <T extends @Nullable Object> T call(ThrowingSupplier<T> work) throws Throwable {
    ContextSnapshot own = FACTORY.captureAll();
    ContextSnapshot.Scope scope;
    try {
      scope = snapshot.setThreadLocals();
    } catch (RuntimeException e) {
      // Some may be set already.
      restore(own);
      throw e;
    }
    try {
      return work.get();
    } finally {
      restore(scope, own);
    }
  }

  /** Throws nothing: the work has begun, and must keep its lock until it ends. */
  private static void restore(ContextSnapshot.Scope scope, ContextSnapshot own) {
    try {
      scope.close();
    } catch (RuntimeException e) {
      log.warn("A thread-local could not be restored after work under a lock", e);
      restore(own);
    }
  }

  /** As many of them as their accessors allow: an exception of one ends it. */
  private static void restore(ContextSnapshot own) {
    try {
      ContextSnapshot.Scope unused = own.setThreadLocals();
    } catch (RuntimeException e) {
      log.debug("Not all thread-locals were restored", e);
    }
  }
}
