package io.amqplocks.spring.internal.async;

import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * What a caller's thread has that its work on another thread needs: the class loader, and if
 * Micrometer's context propagation is there, the thread-locals that are registered with it. Leases
 * of the caller are not among them: two tasks that one holder starts must not both believe to hold
 * its mutex.
 *
 * <p>Concurrency: immutable. It is captured on the caller's thread. A thread that works in it is
 * left as it was.
 */
public final class CallerContext {

  private static final boolean CAPTURES =
      ClassUtils.isPresent(
          "io.micrometer.context.ContextSnapshotFactory", CallerContext.class.getClassLoader());

  private final CallerClassLoader loader = CallerClassLoader.here();
  private final @Nullable CallerThreadLocals locals = CAPTURES ? CallerThreadLocals.here() : null;

  private CallerContext() {}

  /**
   * The context of this thread.
   *
   * @throws RuntimeException what an accessor of the application throws
   */
  public static CallerContext here() {
    return new CallerContext();
  }

  /** Does the work in it, and leaves the thread as it was. */
  <T extends @Nullable Object> T call(ThrowingSupplier<T> work) throws Throwable {
    CallerThreadLocals captured = locals;
    return loader.call(captured == null ? work : () -> captured.call(work));
  }
}
