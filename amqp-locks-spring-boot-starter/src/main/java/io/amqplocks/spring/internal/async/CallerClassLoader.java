package io.amqplocks.spring.internal.async;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The class loader in whose context a caller calls, for its work that runs on another thread: that
 * may have been made by somebody with another one, which does not find the classes of an
 * application that was started as one jar.
 */
public final class CallerClassLoader {

  private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

  private CallerClassLoader() {}

  /** The class loader of this thread. */
  public static CallerClassLoader here() {
    return new CallerClassLoader();
  }

  /** Does the work in its context, and leaves the thread as it was. */
  @SuppressWarnings("NullAway") // a thread may have none
  public <T extends @Nullable Object> T call(ThrowingSupplier<T> work) throws Throwable {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    if (Objects.equals(before, loader)) {
      return work.get();
    }
    thread.setContextClassLoader(loader);
    try {
      return work.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
