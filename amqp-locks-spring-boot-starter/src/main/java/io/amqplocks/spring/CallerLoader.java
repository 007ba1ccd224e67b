package io.amqplocks.spring;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The class loader in whose context a caller calls, for its work that runs on another thread: that may have
 * been made by somebody with another one, which does not find the classes of an application that was started
 * as one jar. Not meant to be called by applications.
 */
public final class CallerLoader {

  private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();

  private CallerLoader() {}

  /** That of this thread. */
  public static CallerLoader here() {
    return new CallerLoader();
  }

  /** Does the work in its context, and leaves the thread as it was. */
  @SuppressWarnings("NullAway") // a thread may have none
  public <T extends @Nullable Object, E extends Throwable> T call(GuardedCall<T, E> work) throws E {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    if (Objects.equals(before, loader)) {
      return work.call();
    }
    thread.setContextClassLoader(loader);
    try {
      return work.call();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
