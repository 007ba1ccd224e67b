package io.amqplocks.spring;

import org.jspecify.annotations.Nullable;

/**
 * Work under a lock that has a result.
 *
 * @param <T> the result
 * @param <E> what it may throw; inferred as an unchecked exception where it throws no other
 */
@FunctionalInterface
public interface GuardedCall<T extends @Nullable Object, E extends Throwable> {

  /** Does the work. */
  T call() throws E;
}
