package io.amqplocks.spring;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done under a lock and has a result.
 *
 * @param <T> the result
 * @param <E> the checked exception that it throws; inferred as an unchecked one if it throws none
 */
@FunctionalInterface
public interface GuardedCall<T extends @Nullable Object, E extends Throwable> {

  /** Does the work. */
  T call() throws E;
}
